// npm run check:bundle: bundles the Worker for every environment, and fails if it is too large or contains an unexpected package.
import { UserError, runCommand } from './command.ts';
import { BUDGET_KIB, buildWorker, sizeProblems } from './deploy/build.ts';

/** "" is the top level of wrangler.toml. */
const ENVIRONMENTS = ['', 'staging', 'production'];

/**
 * The packages bundled into the Worker. They run with the database's credentials, so adding one is a decision.
 *
 * - @neondatabase/serverless: Neon's own driver, SQL over HTTP
 * - hono: routes, headers, CORS; small, and made for Workers
 */
const PACKAGES = '@neondatabase/serverless, hono';

await runCommand(async () => {
  for (const env of ENVIRONMENTS) {
    const { gzipBytes, inputs } = await buildWorker({ env, config: 'wrangler.toml' });
    const size = `${(gzipBytes / 1024).toFixed(1)} KiB under gzip (limit ${BUDGET_KIB} KiB)`;
    process.stdout.write(`${env || 'top level'}: ${size}\n`);
    for (const problem of sizeProblems(gzipBytes)) throw new UserError(problem);
    const packages = packagesIn(inputs);
    if (packages !== PACKAGES)
      throw new UserError(
        `The Worker contains ${packages}, not ${PACKAGES}; if that is intended, change the list in tools/deploy-bundle.ts`,
      );
  }
});

function packagesIn(paths: readonly string[]): string {
  const names = paths.flatMap((path) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].toSorted().join(', ');
}
