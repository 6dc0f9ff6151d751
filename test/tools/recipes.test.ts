import { readFile, readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';

test('docs/recipes.md lists every recipe', async () => {
  const names = await readdir(new URL('../../recipes/', import.meta.url), { recursive: true });
  const page = await readFile(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
  const links = new Set(
    [...page.matchAll(/\]\(\.\.\/recipes\/([^)]+)\)/g)].map(([, path = '']) => path),
  );
  const paths = names
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.includes('/'));
  expect([...links].toSorted()).toEqual(paths.toSorted());
});
