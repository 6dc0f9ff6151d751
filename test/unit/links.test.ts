import { glob, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const pages = await Array.fromAsync(
  glob(['*.md', '{clients,docs,recipes,test}/**/*.md'], {
    cwd: fileURLToPath(root),
    exclude: ['**/node_modules/**', '**/.venv/**'],
  }),
);

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(page: string): string[] {
  const headings = page.replaceAll(/^ *```[^]*?^ *```/gm, '').matchAll(/^#+ (.*)$/gm);
  return Array.from(headings, ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

async function leads(to: URL): Promise<boolean> {
  const text = await readFile(to, 'utf8').catch(() => null);
  return text !== null && (to.hash === '' || anchorsOf(text).includes(to.hash.slice(1)));
}

test.each(pages)('every link of %s leads to a file, and to a heading of it', async (page) => {
  const from = new URL(page, root);
  const links = (await readFile(from, 'utf8')).matchAll(/\]\((?!https?:)([^)\s]+)\)/g);

  const broken: string[] = [];
  for (const [, link = ''] of links) if (!(await leads(new URL(link, from)))) broken.push(link);

  expect(broken).toEqual([]);
});
