import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Metafile } from 'esbuild';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import { runWrangler } from '../wrangler.ts';
import { type Target, configPath } from './config.ts';

/**
 * Limit for the gzipped Worker. Cloudflare accepts 3 MB on the free plan and 10 MB on the paid one, but every kilobyte slows
 * the start of an isolate. The limit leaves room for features, but a large dependency exceeds it.
 */
export const BUDGET_KIB = 120;

/**
 * Bundles the Worker with a dry run of `wrangler deploy`, which needs no network.
 *
 * @returns the size of everything that would be uploaded, except the source map, and the paths of the files that contribute code
 * @throws UserError with wrangler's reason
 */
export async function buildWorker(target: Target): Promise<{ gzipBytes: number; inputs: string[] }> {
  await using folder = await makeTemporaryFolder();
  const out = join(folder.path, 'build');
  const metafile = join(folder.path, 'metafile.json');
  const args = ['deploy', '--dry-run', `--outdir=${out}`, `--metafile=${metafile}`];
  await runWrangler([...args, `--env=${target.env}`, `--config=${configPath(target)}`]);

  const names = (await readdir(out)).filter((name) => !/\.map$|^README\.md$/.test(name)); // README.md: wrangler's own
  const modules = await Promise.all(names.map((name) => readFile(join(out, name))));
  const { outputs } = JSON.parse(await readFile(metafile, 'utf8')) as Metafile;
  const inputs = Object.values(outputs)
    .flatMap((output) => Object.entries(output.inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path);
  return { gzipBytes: gzipSync(Buffer.concat(modules)).length, inputs };
}

/** @returns a message if the Worker exceeds {@link BUDGET_KIB} */
export function sizeProblems(gzipBytes: number): string[] {
  const kib = gzipBytes / 1024;
  if (kib <= BUDGET_KIB) return [];
  return [
    `The Worker has ${kib.toFixed(1)} KiB under gzip, but the limit is ${BUDGET_KIB} KiB; find the cause with "npx wrangler deploy --dry-run --outdir dist --metafile", or raise the limit in tools/deploy/build.ts`,
  ];
}
