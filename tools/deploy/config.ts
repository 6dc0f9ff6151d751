import { resolve } from 'node:path';
import {
  experimental_readRawConfig as readRawConfig,
  unstable_readConfig as readConfig,
} from 'wrangler';
import { isNeon } from '../../src/db/endpoint.ts';
import { messageOf, UserError } from '../command.ts';
import { printable } from '../keys/printable.ts';
import { regionOf } from '../neon-host.ts';
import { type Config, ROOT } from '../wrangler.ts';

/** What to deploy, from which configuration. */
export interface Target {
  /** Name of an environment in `config`. */
  readonly env: string;
  /** Path of wrangler.toml or a file like it, relative to the project's folder. */
  readonly config: string;
}

/**
 * The part of an environment that is checked. (wrangler's own types are in a package that it does
 * not depend on.)
 */
export interface Environment extends Partial<Pick<Config, 'kv_namespaces' | 'ratelimits'>> {
  readonly limits?: { readonly cpu_ms?: number | undefined } | undefined;
  readonly placement?:
    | { readonly mode?: string | undefined; readonly region?: string | undefined }
    | undefined;
  readonly secrets?: { readonly required?: readonly string[] } | undefined;
  readonly vars?: { readonly SQL_ENDPOINT?: unknown } | undefined;
}

const configPath = ({ config }: Target) => resolve(ROOT, config);

/** The arguments of wrangler that name a target. */
export const argumentsFor = (target: Target) => [
  `--env=${target.env}`,
  `--config=${configPath(target)}`,
];

/** @throws UserError if the file has no such environment or cannot be read */
export function readEnvironment(target: Target): Environment {
  const config = configPath(target);
  const names = environmentsIn(config);
  if (names.length === 0)
    throw new UserError(`--config: ${target.config} has no environments, as wrangler.toml has`);
  if (!names.includes(target.env)) {
    throw new UserError(
      `--env: ${target.config} has no environment "${printable(target.env)}", only ${names.join(', ')}`,
    );
  }

  return readConfig({ config, env: target.env }, { hideWarnings: true }) as Environment;
}

function environmentsIn(config: string): string[] {
  try {
    return Object.keys((readRawConfig({ config }).rawConfig as { env?: object }).env ?? {});
  } catch (cause) {
    throw new UserError(`--config: ${messageOf(cause)}`, { cause });
  }
}

const KV = 'API_KEYS';

/** The gateway's URL; undefined if the environment has none, or one that a Worker cannot use. */
export function gatewayOf({ vars }: Environment): string | undefined {
  const url = String(vars?.SQL_ENDPOINT);
  return /^https:\/\/[^/?#@]+\/(?:[^?#]*\/)?sql$/.test(url) && URL.canParse(url) ? url : undefined;
}

/**
 * Checks that an environment has the bindings of src/env.ts, and that its Worker runs near the
 * database.
 *
 * @param databaseUrl `postgres://` URL, on which the endpoint depends; the placement is compared
 * with the region of a Neon host
 */
export function configProblems(environment: Environment, databaseUrl?: string): string[] {
  const { kv_namespaces = [], ratelimits = [], secrets, vars } = environment;
  const host = URL.parse(databaseUrl ?? '')?.hostname;
  const isOnNeon = host === undefined ? undefined : isNeon(host);
  const hasEndpoint = vars?.SQL_ENDPOINT !== undefined;
  const id = kv_namespaces.find(({ binding }) => binding === KV)?.id;
  const ids = ratelimits.map(({ namespace_id }) => namespace_id);
  const add = 'it does not inherit the one of the top level, so add one';
  const problems = [
    id === undefined && `the environment has no KV namespace bound as ${KV}; ${add}`,
    id !== undefined &&
      !/^(?!0+$)[0-9a-f]{32}$/.test(id) &&
      `the id of ${KV} is a placeholder; use the id that "npx wrangler kv namespace create" prints`,
    ...['ACCOUNT_LIMIT', 'FAILURE_LIMIT']
      .filter((name) => !ratelimits.some((limit) => limit.name === name))
      .map((name) => `the environment has no rate limit ${name}; ${add}`),
    new Set(ids).size < ids.length &&
      'two rate limits have the same namespace_id and would share a counter; give each its own',
    ...['DATABASE_URL', ...(hasEndpoint ? ['SQL_ENDPOINT_HEADERS'] : [])]
      .filter((name) => !secrets?.required?.includes(name))
      .map((name) => `[secrets] required does not list ${name}; add it`),
    hasEndpoint &&
      !gatewayOf(environment) &&
      'SQL_ENDPOINT must be an https: URL that ends in /sql, without user and password',
    isOnNeon &&
      hasEndpoint &&
      'DATABASE_URL is on Neon, which has its own endpoint; remove SQL_ENDPOINT',
    isOnNeon === false &&
      !hasEndpoint &&
      'DATABASE_URL is not on Neon; add vars = { SQL_ENDPOINT = "https://…/sql" }, its gateway, directly below [env.…] (docs/deploy.md)',
    ...placementProblems(environment, regionOf(host ?? '')),
  ];

  return problems.flatMap((problem) => (problem ? `wrangler.toml: ${problem}` : []));
}

/**
 * Without a placement, a Worker runs near its clients. The top level of wrangler.toml has none to
 * inherit, so whatever an environment has was chosen for it.
 *
 * @param region of the database, where it is known
 */
function placementProblems(environment: Environment, region: string | undefined): string[] {
  const { placement } = environment;
  const gateway = gatewayOf(environment);
  const place = gateway
    ? `host = "${new URL(gateway).hostname}:${new URL(gateway).port || 443}"`
    : `region = "${region ?? '…'}"`;
  const remedy = `add placement = { ${place} }, or { mode = "smart" } to let Cloudflare choose`;
  if (region !== undefined && placement?.region !== region && placement?.mode !== 'smart')
    return [`the Worker would not run next to the database, which is in ${region}; ${remedy}`];
  if (!placement)
    return [
      `the environment has no placement, so the Worker would run next to its clients; ${remedy}`,
    ];
  return [];
}
