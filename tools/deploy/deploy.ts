import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { counted, messageOf, note, print } from '../command.ts';
import { ROOT, runWrangler, WRANGLER, WRANGLER_ENV } from '../wrangler.ts';
import { buildProblems, buildWorker } from './build.ts';
import { type Target, argumentsFor, configProblems, gatewayOf, readEnvironment } from './config.ts';
import { databaseProblems } from './database.ts';
import { gatewayProblems } from './gateway.ts';

interface DeployOptions extends Target {
  /** URL of the tables' owner; without it, the database is not checked. */
  readonly databaseUrl?: string | undefined;
  /** The value of the secret SQL_ENDPOINT_HEADERS; without it, the gateway is not checked. */
  readonly endpointHeaders?: string | undefined;
  /** Whether to deploy nothing. */
  readonly check?: boolean | undefined;
}

/**
 * Checks everything that a deployed service needs, which changes nothing. Prints all that is
 * missing. If that is nothing, deploys the service.
 *
 * @returns the exit status
 * @throws UserError if the configuration has no such environment
 */
export async function deploy(options: DeployOptions): Promise<number> {
  const { databaseUrl, endpointHeaders, check: only, ...target } = options;
  const environment = readEnvironment(target);
  const gateway = gatewayOf(environment);
  const checks = await Promise.allSettled([
    cloudflareProblems(target, environment.secrets?.required ?? []),
    databaseUrl ? databaseProblems(databaseUrl) : [],
    gateway && endpointHeaders ? gatewayProblems(gateway, endpointHeaders, databaseUrl) : [],
    buildWorker(target).then(buildProblems),
  ]);

  const found = checks.flatMap((result) =>
    result.status === 'fulfilled' ? result.value : [messageOf(result.reason)],
  );

  const problems = [...new Set([...configProblems(environment, databaseUrl), ...found])];
  if (!databaseUrl)
    print("Database not checked: set DATABASE_URL to the URL of the tables' owner to check it.");
  if (gateway && !endpointHeaders)
    print('Gateway not checked: set SQL_ENDPOINT_HEADERS to the value of the secret to check it.');
  // Whoever may deploy need not be allowed to read the account's plan.
  if (environment.limits?.cpu_ms !== undefined)
    print(
      'Plan not checked: limits.cpu_ms needs the paid plan of Cloudflare Workers. On the free plan, remove it from wrangler.toml, or the deployment fails (code 100328).',
    );
  if (problems.length === 0) return only ? 0 : upload(target);
  const count = counted(problems.length, 'problem');
  note(`Nothing was deployed. ${count}:`);
  for (const problem of problems) note(`- ${problem}`);
  return 1;
}

/** Runs `wrangler deploy` on this terminal. @returns its exit status */
async function upload(target: Target): Promise<number> {
  const env = {
    ...process.env,
    ...WRANGLER_ENV,
    CI: process.env['CI'], // wrangler may prompt
    DATABASE_URL: undefined, // the owner's URL, which a deployment does not need
    SQL_ENDPOINT_HEADERS: undefined,
  };

  const args = [WRANGLER, 'deploy', ...argumentsFor(target)];
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' });
  await once(child, 'close');
  return child.exitCode ?? 1;
}

/**
 * Checks that wrangler is logged in to Cloudflare and that the Worker has its secrets. Their values
 * cannot be read.
 *
 * @param secrets names of the required secrets
 */
async function cloudflareProblems(target: Target, secrets: readonly string[]): Promise<string[]> {
  const args = ['secret', 'list', '--format=json', ...argumentsFor(target)];
  let found: string[] = [];
  try {
    found = namesIn(await runWrangler(args));
  } catch (error) {
    const reason = messageOf(error);
    if (reason.startsWith('wrangler is not logged in')) return [reason];
    // 10007: before its first deployment
    const hasNoWorker = reason.includes('10007') || /Worker .* not found/i.test(reason);
    if (!hasNoWorker)
      return [
        `Cannot list the secrets of the environment (${reason}); see "npx wrangler secret list --env ${target.env}"`,
      ];
  }

  return secrets
    .filter((name) => !found.includes(name))
    .map(
      (name) =>
        `The secret ${name} is not set; run "npx wrangler secret put ${name} --env ${target.env}"`,
    );
}

/**
 * The names in the output of `wrangler secret list`: a JSON array of objects, possibly after
 * warnings.
 */
export function namesIn(output: string): string[] {
  const json = /^\[[^]*\]\s*$/m.exec(output)?.[0] ?? '[]';
  return (JSON.parse(json) as { name: string }[]).map(({ name }) => name);
}
