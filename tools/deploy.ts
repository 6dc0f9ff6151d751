// npm run deploy: checks that everything a deployed service needs is there, then deploys it.
import { Command } from 'commander';
import { runCommand } from './command.ts';
import { check } from './deploy/check.ts';
import { deploy } from './deploy/deploy.ts';

const program = new Command('npm run deploy --')
  .description('Checks that what the service needs is there, and then deploys it to Cloudflare.')
  .option('--env <name>', 'the environment in wrangler.toml: staging or production', 'production')
  .option('--check', 'only check')
  .option('--config <file>', 'another file than wrangler.toml', 'wrangler.toml')
  .showHelpAfterError()
  .addHelpText(
    'after',
    `
With DATABASE_URL, the URL of the tables' owner, the database is checked as well. It is not passed on.
When anything is missing nothing is deployed: all that is missing is listed, and the exit status is 1.

Examples:
  npm run deploy -- --env staging --check
  DATABASE_URL=postgres://… npm run deploy -- --env production`,
  )
  .action(async ({ env, config, check: only }: { env: string; config: string; check?: boolean }) => {
    const { problems, notes } = await check({ env, config, databaseUrl: process.env['DATABASE_URL'] });
    for (const note of notes) process.stdout.write(`${note}\n`);
    if (problems.length > 0) {
      const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
      process.stderr.write(`Nothing was deployed. ${count}:\n${problems.map((problem) => `- ${problem}\n`).join('')}`);
      process.exitCode = 1;
    } else if (!only) process.exitCode = await deploy({ env, config });
  });

await runCommand(async () => {
  await program.parseAsync();
});
