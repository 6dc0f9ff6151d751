// Builds site/ into site/dist, the Worker's static assets. wrangler runs it before it bundles the
// Worker: `[build]` in wrangler.toml.
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Metafile, build } from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));
const OUT = 'site/dist';

/**
 * Source and paths of each page. Requests for `/docs/` get the page too, rather than a redirect:
 * Cloudflare serves `docs.html` at `/docs`, and `docs/index.html` at `/docs/`.
 */
const PAGES = {
  'site/home/home.html': ['index.html'],
  'site/reference/reference.html': ['docs.html', 'docs/index.html'],
};

const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: [
    'home/main.ts',
    'home/home.css',
    'reference/main.ts',
    'reference/reference.css',
  ].map((path) => `site/${path}`),
  outbase: 'site',
  outdir: OUT,
  // The hash of the content, so that browsers keep a file for good: see site/_headers.
  entryNames: 'assets/[dir]/[name]-[hash]',
  assetNames: 'assets/[dir]/[name]-[hash]',
  publicPath: '/',
  loader: { '.svg': 'file' },
  bundle: true,
  format: 'esm',
  target: 'es2024',
  charset: 'utf8',
  minify: true,
  sourcemap: true,
  metafile: true,
  write: false,
}).catch(() => process.exit(1)); // esbuild has printed why

/** What the files contain, by path in the output folder. */
const files = new Map<string, Uint8Array>(
  outputFiles.map(({ path, contents }) => [relative(join(root, OUT), path), contents]),
);
files.set('_headers', await readFile(join(root, 'site/_headers')));
// Swagger UI is distributed with its licence, and those of the packages in it.
const licences = ['NOTICE', 'LICENSE', 'swagger-ui-es-bundle.js.LICENSE.txt'].map((name) =>
  readFile(join(root, 'node_modules/swagger-ui-dist', name)),
);
files.set('docs/swagger-ui.txt', Buffer.concat(await Promise.all(licences)));
for (const [source, paths] of Object.entries(PAGES)) {
  const html = await readFile(join(root, source), 'utf8');
  const built = html.replace(/(?<=(?:href|src)=")\.[^"]*/g, (path) =>
    builtPath(join(dirname(source), path), metafile),
  );

  for (const path of paths) files.set(path, Buffer.from(built));
}
await writeFiles(join(root, OUT), files);

/** The path at which a page loads the file that a source file was built into. */
function builtPath(source: string, { outputs }: Metafile): string {
  const found = Object.entries(outputs).find(
    ([path, { entryPoint, inputs }]) =>
      !path.endsWith('.map') && (entryPoint === source || Object.keys(inputs).join() === source),
  );

  if (!found) throw new Error(`${source} is not part of the build`);
  return `/${relative(OUT, found[0])}`;
}

/**
 * Makes a folder contain these files only. Each is whole at any time, because several builds may
 * run and read at once.
 */
async function writeFiles(folder: string, wanted: ReadonlyMap<string, Uint8Array>): Promise<void> {
  for (const [path, contents] of wanted) {
    const file = join(folder, path);
    const current = await readFile(file).catch(() => undefined);
    if (current?.equals(contents)) continue;
    await mkdir(dirname(file), { recursive: true });
    const draft = `${folder}.${process.pid}`;
    await writeFile(draft, contents);
    await rename(draft, file);
  }

  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !wanted.has(relative(folder, file))) await rm(file, { force: true });
  }
}
