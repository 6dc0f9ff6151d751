// npm run check:bundle: bundles the Worker for every environment, and fails if it is too large.
import { UserError, runCommand } from './command.ts';
import { BUDGET_KIB, buildWorker, sizeProblems } from './deploy/build.ts';

/** "" is the top level of wrangler.toml. */
const ENVIRONMENTS = ['', 'staging', 'production'];

await runCommand(async () => {
  for (const env of ENVIRONMENTS) {
    const { gzipBytes } = await buildWorker({ env, config: 'wrangler.toml' });
    const size = `${(gzipBytes / 1024).toFixed(1)} KiB under gzip (limit ${BUDGET_KIB} KiB)`;
    process.stdout.write(`${env || 'top level'}: ${size}\n`);
    for (const problem of sizeProblems(gzipBytes)) throw new UserError(problem);
  }
});
