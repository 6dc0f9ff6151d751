import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runProgram } from '../support/programs.ts';

test('docs/recipes.md lists every recipe', async () => {
  const names = await readdir(new URL('../../recipes/', import.meta.url), { recursive: true });
  const page = await readFile(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
  const links = new Set([...page.matchAll(/\]\(\.\.\/recipes\/([^)]+)\)/g)].map(([, path = '']) => path));
  const paths = names.map((name) => name.replaceAll('\\', '/')).filter((name) => name.includes('/'));
  expect([...links].toSorted()).toEqual(paths.toSorted());
});

test('npm run recipes fails for a required language that is not installed', async () => {
  const runner = fileURLToPath(new URL('../recipes/run.ts', import.meta.url));
  const command = [process.execPath, runner, '--require', 'curl,perl'] as const;
  const { status, stderr } = await runProgram(command, { env: { PATH: '/nowhere' } });
  expect({ status, stderr }).toEqual({ status: 1, stderr: 'not installed: curl, perl\n' });
});
