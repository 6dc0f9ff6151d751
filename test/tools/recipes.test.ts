import { readFile, readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { checks } from '../recipes/checks.ts';
import { runProgram } from '../recipes/programs.ts';

const recipes = fileURLToPath(new URL('../../recipes/', import.meta.url));
const entries = await readdir(recipes, { recursive: true, withFileTypes: true });
const paths = entries
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => relative(recipes, join(parentPath, name)).replaceAll(sep, '/'));

test('docs/recipes.md lists every file in recipes/', async () => {
  const page = await readFile(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
  const links = new Set([...page.matchAll(/\]\(\.\.\/recipes\/([^)]+)\)/g)].map(([, path = '']) => path));
  expect([...links].toSorted()).toEqual(paths.toSorted());
});

test.each([
  ['.sh', /^get\(\) \{ # path, file[^]*?^\}$/m],
  ['.py', /^API = [^]*?^SURVEY = .*$/m],
  ['.py', /^session = [^]*?^ {4}response\.raise_for_status\(\).*$/m],
  ['.R', /^setting <- [^]*?^survey <- .*$/m],
  ['.R', /^fetch <- [^]*?^\}$/m],
])('recipes whose name ends in %s share the code that matches %s', async (ending, code) => {
  const files = paths.filter((path) => path.endsWith(ending));
  const texts = await Promise.all(files.map((path) => readFile(join(recipes, path), 'utf8')));
  const copies = texts.flatMap((text) => code.exec(text)?.[0] ?? []);
  expect(copies.length).toBeGreaterThan(1);
  expect(new Set(copies).size).toBe(1);
});

describe('npm run recipes', () => {
  test('has a check for every recipe that can be run', () => {
    expect(Object.keys(checks).toSorted()).toEqual(paths.filter((path) => !path.endsWith('.md')).toSorted());
  });

  test.each([
    [
      'a required language that is not installed',
      'curl,workbooks',
      { PATH: '/nowhere' },
      'not installed: curl, workbooks\n',
    ],
    ['an unknown language', 'curl,perl', {}, 'unknown language "perl"; use curl, python, r, duckdb, workbooks.'],
  ])('fails for %s', async (_, required, env, message) => {
    const script = fileURLToPath(new URL('../recipes/run.ts', import.meta.url));
    const { status, stderr } = await runProgram([process.execPath, script, '--require', required], { env });
    expect(status).toBe(1);
    expect(stderr).toContain(message);
  });
});
