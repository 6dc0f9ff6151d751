import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runWrangler } from '../keys/wrangler.ts';
import { type Target, configPath } from './config.ts';

/** The Worker, bundled as for a deployment. */
export interface Build {
  /** Of all that is uploaded, but for the source map. */
  readonly gzipBytes: number;
  /** Bytes in the bundle, by the path of the file that they come from. */
  readonly inputs: ReadonlyMap<string, number>;
}

interface Metafile {
  readonly outputs: Readonly<Record<string, { readonly inputs?: Readonly<Record<string, { bytesInOutput: number }>> }>>;
}

/**
 * Bundles the Worker with a dry run of wrangler's. Needs no network.
 *
 * @param folder an empty one that exists; stays as it was but for `build` and `logs`
 * @throws UserError with wrangler's reason
 */
export async function buildWorker(folder: string, target: Target): Promise<Build> {
  const out = join(folder, 'build');
  const metafile = join(folder, 'metafile.json');
  const args = ['deploy', '--dry-run', `--outdir=${out}`, `--metafile=${metafile}`];
  await runWrangler([...args, `--env=${target.env}`, `--config=${configPath(target)}`], {
    logFolder: join(folder, 'logs'),
  });

  const names = (await readdir(out)).filter((name) => !/\.map$|^README\.md$/.test(name)); // wrangler's own, not uploaded
  const modules = await Promise.all(names.map((name) => readFile(join(out, name))));
  const { outputs } = JSON.parse(await readFile(metafile, 'utf8')) as Metafile;
  const inputs = new Map<string, number>();
  for (const output of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs ?? {})) {
      if (bytesInOutput > 0) inputs.set(path, (inputs.get(path) ?? 0) + bytesInOutput);
    }
  }
  return { gzipBytes: gzipSync(Buffer.concat(modules)).length, inputs };
}
