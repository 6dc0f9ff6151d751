// npm run deploy: checks that everything a deployed service needs is in place, then deploys it.
import { commandLine, runCommand } from './command.ts';

const program = commandLine('npm run deploy --')
  .description(
    'Checks that everything the service needs is in place, then deploys it to Cloudflare.',
  )
  .option('--env <name>', 'environment in wrangler.toml: staging or production', 'production')
  .option('--check', 'only check; deploy nothing')
  .option(
    '--config <file>',
    'use this file, in the same folder, instead of wrangler.toml',
    'wrangler.toml',
  )
  .addHelpText(
    'after',
    `
Set DATABASE_URL to the URL of the tables' owner to check the database as well, and SQL_ENDPOINT_HEADERS to the value of that
secret to check the gateway, if there is one. Both are used for the check only.
If anything is missing, the command lists all of it, deploys nothing and exits with status 1.

Examples:
  npm run deploy -- --env staging --check
  DATABASE_URL=postgres://… npm run deploy -- --env production`,
  )
  .action(async (options: { env: string; config: string; check?: boolean }) => {
    const { deploy } = await import('./deploy/deploy.ts'); // wrangler takes a second to load
    const { DATABASE_URL: databaseUrl, SQL_ENDPOINT_HEADERS: endpointHeaders } = process.env;
    process.exitCode = await deploy({ ...options, databaseUrl, endpointHeaders });
  });

await runCommand(() => program.parseAsync());
