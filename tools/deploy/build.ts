import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Metafile } from 'esbuild';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import { runWrangler } from '../wrangler.ts';
import { type Target, argumentsFor } from './config.ts';

/**
 * Limit for the gzipped Worker. Cloudflare accepts 3 MB on the free plan and 10 MB on the paid one,
 * but every kilobyte slows the start of an isolate. The limit leaves room for features, but a large
 * dependency exceeds it.
 */
export const BUDGET_KIB = 120;

/**
 * The packages that the Worker may contain. They run with the database's credentials, so adding one
 * is a decision.
 *
 * - @neondatabase/serverless: Neon's own driver, SQL over HTTP
 * - hono: routes, headers, CORS; small, and made for Workers
 */
const PACKAGES = new Set(['@neondatabase/serverless', 'hono']);

/**
 * Bundles the Worker with a dry run of `wrangler deploy`, which needs no network.
 *
 * @returns the size of everything that would be uploaded, except the source map, and the packages
 * that contribute code
 * @throws UserError with wrangler's reason
 */
export async function buildWorker(target: Target) {
  await using folder = await makeTemporaryFolder();
  const out = join(folder.path, 'build');
  const metafile = join(folder.path, 'metafile.json');
  const args = ['deploy', '--dry-run', `--outdir=${out}`, `--metafile=${metafile}`];
  await runWrangler([...args, ...argumentsFor(target)]);

  // README.md: wrangler's own
  const names = (await readdir(out)).filter((name) => !/\.map$|^README\.md$/.test(name));
  const modules = await Promise.all(names.map((name) => readFile(join(out, name))));
  const { outputs } = JSON.parse(await readFile(metafile, 'utf8')) as Metafile;
  const packages = Object.values(outputs)
    .flatMap((output) => Object.entries(output.inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return { kib: gzipSync(Buffer.concat(modules)).length / 1024, packages: [...new Set(packages)] };
}

/**
 * @returns a message if the Worker exceeds {@link BUDGET_KIB}, and one for packages that it may not
 * contain
 */
export function buildProblems({
  kib,
  packages,
}: Awaited<ReturnType<typeof buildWorker>>): string[] {
  const others = packages.filter((name) => !PACKAGES.has(name));
  const problems: string[] = [];
  if (kib > BUDGET_KIB)
    problems.push(
      `The Worker has ${kib.toFixed(1)} KiB under gzip, but the limit is ${BUDGET_KIB} KiB; find the cause with "npx wrangler deploy --dry-run --outdir dist --metafile", or raise the limit in tools/deploy/build.ts`,
    );
  if (others.length > 0)
    problems.push(
      `The Worker contains ${others.join(', ')}; if that is intended, add it to the list in tools/deploy/build.ts`,
    );
  return problems;
}
