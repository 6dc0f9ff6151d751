import { readFile, readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { RECIPES, recipeFiles } from '../../tools/recipes/catalogue.ts';
import { checks } from '../recipes/checks.ts';
import { makePage } from '../../tools/recipes/page.ts';
import { runProgram } from '../recipes/programs.ts';

describe('docs/recipes.md', () => {
  test('is up to date with the files that "npm run docs:recipes" reads', async () => {
    const page = await readFile(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
    expect(page).toBe(await makePage());
  });

  test('lists every file in recipes/', async () => {
    const entries = await readdir(RECIPES, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && entry.name !== 'about.md');
    const paths = files.map(({ parentPath, name }) => relative(RECIPES, join(parentPath, name)).replaceAll(sep, '/'));
    expect(paths.toSorted()).toEqual(recipeFiles.map(({ path }) => path).toSorted());
  });

  test('links only to its own headings', async () => {
    const page = await makePage();
    const headings = new Set(
      [...page.matchAll(/^#{2,3} (.+)$/gm)].map(([, heading = '']) =>
        heading.toLowerCase().replaceAll(/[()]/g, '').replaceAll(' ', '-'),
      ),
    );
    const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
    expect(links.length).toBeGreaterThan(recipeFiles.length);
    expect(links.filter((anchor) => !headings.has(anchor ?? ''))).toEqual([]);
  });
});

describe('npm run recipes', () => {
  test('has a check for every recipe that can be run', () => {
    const runnable = recipeFiles.filter(({ language }) => language !== undefined).map(({ path }) => path);
    expect(Object.keys(checks).toSorted()).toEqual(runnable.toSorted());
  });

  test.each([
    ['a required language that is not installed', 'curl,r', { PATH: '/nowhere' }, 'not installed: curl, r\n'],
    ['an unknown language', 'curl,perl', {}, 'unknown language "perl"; use curl, python, r, duckdb.'],
  ])('fails for %s', async (_, required, env, message) => {
    const script = fileURLToPath(new URL('../recipes/run.ts', import.meta.url));
    const { status, stderr } = await runProgram([process.execPath, script, '--require', required], { env });
    expect(status).toBe(1);
    expect(stderr).toContain(message);
  });
});
