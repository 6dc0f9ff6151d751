import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { experimental_readRawConfig as readRawConfig, unstable_readConfig as readConfig } from 'wrangler';
import { UserError } from '../command.ts';
import { printable } from '../keys/printable.ts';

/** What is deployed, and from which file. */
export interface Target {
  /** The name of an environment in `config`. */
  readonly env: string;
  /** wrangler.toml, or another file like it. */
  readonly config: string;
}

/** The part of an environment in wrangler.toml that the check is about. (wrangler's own types are in a package that it does not bring.) */
export interface Environment {
  readonly kv_namespaces?: readonly { readonly binding: string; readonly id?: string | undefined }[];
  readonly ratelimits?: readonly { readonly name: string; readonly namespace_id: string }[];
  readonly secrets?: { readonly required?: readonly string[] } | undefined;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The file's absolute path: a relative one is relative to the project's folder, as the rest of what wrangler is told. */
export const configPath = ({ config }: Pick<Target, 'config'>) => resolve(root, config);

/** @throws UserError when the file has no such environment, or cannot be read */
export function readEnvironment(target: Target): Environment {
  const config = configPath(target);
  const { rawConfig } = readRawConfig({ config }) as { rawConfig: { env?: Readonly<Record<string, unknown>> } };
  const names = Object.keys(rawConfig.env ?? {});
  if (!names.includes(target.env)) {
    throw new UserError(
      `--env: ${target.config} has no environment "${printable(target.env)}", only ${names.join(', ')}`,
    );
  }
  return readConfig({ config, env: target.env }, { hideWarnings: true }) as Environment;
}

const KV = 'API_KEYS';
const LIMITS = ['KEY_LIMIT', 'FAILURE_LIMIT'];
const SECRET = 'DATABASE_URL';

/** What an environment lacks of src/env.ts. */
export function configProblems({ kv_namespaces = [], ratelimits = [], secrets }: Environment): string[] {
  const problems: string[] = [];
  const id = kv_namespaces.find(({ binding }) => binding === KV)?.id;
  if (id === undefined) {
    problems.push(
      `wrangler.toml: the environment has no KV namespace bound as ${KV}; it does not inherit the top level's`,
    );
  } else if (!/^(?!0+$)[0-9a-f]{32}$/.test(id)) {
    problems.push(
      `wrangler.toml: the id of ${KV} is no namespace's; put the one that "npx wrangler kv namespace create" prints`,
    );
  }
  for (const name of LIMITS) {
    if (!ratelimits.some((limit) => limit.name === name))
      problems.push(`wrangler.toml: the environment has no rate limit ${name}; it does not inherit the top level's`);
  }
  const ids = ratelimits.map(({ namespace_id }) => namespace_id);
  if (new Set(ids).size < ids.length)
    problems.push(
      'wrangler.toml: two rate limits have the same namespace_id, and would count together; give each its own',
    );
  if (!secrets?.required?.includes(SECRET))
    problems.push(`wrangler.toml: [secrets] required does not name ${SECRET}; add it`);
  return problems;
}
