// npm run check:bundle: bundles the Worker as for a deployment, and fails if it is too large or
// contains an unexpected package.
import { UserError, print, runCommand } from './command.ts';
import { BUDGET_KIB, buildProblems, buildWorker } from './deploy/build.ts';

await runCommand(async () => {
  const build = await buildWorker({ env: 'production', config: 'wrangler.toml' });
  print(
    `${build.kib.toFixed(1)} KiB under gzip (limit ${BUDGET_KIB} KiB), with ${build.packages.join(', ')}`,
  );

  for (const problem of buildProblems(build)) throw new UserError(problem);
});
