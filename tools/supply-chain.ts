// npm run check:supply-chain: checks the packages that this project depends on.
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { runCommand } from './command.ts';
import { buildWorker } from './deploy/build.ts';
import { bundledProblems, packagesIn } from './supply-chain/bundled.ts';
import { licenceProblems, lockFileProblems, readAdvisories } from './supply-chain/checks.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

const program = new Command('npm run check:supply-chain --')
  .description(
    'Checks the lock file, the licences of the installed packages, the packages bundled into the Worker, and advisories.',
  )
  .option('--require-advisories', 'fail if the registry provides no advisories')
  .action(async ({ requireAdvisories = false }: { requireAdvisories?: boolean }) => {
    const bundled = packagesIn((await buildWorker({ env: 'production', config: 'wrangler.toml' })).inputs);
    const advisories = await readAdvisories(root);
    const problems = [
      ...(await lockFileProblems(root)),
      ...(await licenceProblems(root)),
      ...bundledProblems(bundled),
      ...('found' in advisories ? advisories.found : []),
    ];
    process.stdout.write(`packages in the Worker: ${bundled.join(', ')}\n`);
    if ('unavailable' in advisories) {
      process.stdout.write(`ADVISORIES WERE NOT CHECKED: ${advisories.unavailable}\n`);
      if (requireAdvisories) problems.push('advisories could not be read, and --require-advisories is set');
    }
    for (const problem of problems) process.stderr.write(`- ${problem}\n`);
    if (problems.length > 0) process.exitCode = 1;
    else process.stdout.write('no problems found\n');
  });

await runCommand(async () => {
  await program.parseAsync();
});
