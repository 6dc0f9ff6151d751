// npm run deploy: checks that everything a deployed service needs is in place, then deploys it.
import { commandLine, runCommand } from './command.ts';
import { deploy } from './deploy/deploy.ts';

const program = commandLine('npm run deploy --')
  .description('Checks that everything the service needs is in place, then deploys it to Cloudflare.')
  .option('--env <name>', 'environment in wrangler.toml: staging or production', 'production')
  .option('--check', 'only check; deploy nothing')
  .option('--config <file>', 'use this file instead of wrangler.toml', 'wrangler.toml')
  .addHelpText(
    'after',
    `
Set DATABASE_URL to the URL of the tables' owner to check the database as well. The URL is used for the check only.
If anything is missing, the command lists all of it, deploys nothing and exits with status 1.

Examples:
  npm run deploy -- --env staging --check
  DATABASE_URL=postgres://… npm run deploy -- --env production`,
  )
  .action(async ({ env, config, check: only }: { env: string; config: string; check?: boolean }) => {
    const { check } = await import('./deploy/check.ts'); // wrangler takes a second to load
    const { problems, notes } = await check({ env, config, databaseUrl: process.env['DATABASE_URL'] });
    for (const note of notes) process.stdout.write(`${note}\n`);
    if (problems.length > 0) {
      const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
      process.stderr.write(`Nothing was deployed. ${count}:\n${problems.map((problem) => `- ${problem}\n`).join('')}`);
      process.exitCode = 1;
    } else if (!only) process.exitCode = await deploy({ env, config });
  });

await runCommand(() => program.parseAsync());
