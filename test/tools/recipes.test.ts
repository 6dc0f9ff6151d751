import { readFile, readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RECIPES, recipeFiles } from '../../tools/recipes/catalogue.ts';
import { checks } from '../../tools/recipes/checks.ts';
import { findInterpreter } from '../../tools/recipes/interpreters.ts';
import { makePage } from '../../tools/recipes/page.ts';
import { type Trials, prepareTrials } from '../../tools/recipes/trial.ts';
import { startTool } from '../support/run-tool.ts';

describe('docs/recipes.md', () => {
  test('is what "npm run docs:recipes" makes', async () => {
    const page = await readFile(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
    expect(page).toBe(await makePage());
  });

  test('has every file of recipes/', async () => {
    const entries = await readdir(RECIPES, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && entry.name !== 'about.md');
    const paths = files.map(({ parentPath, name }) => relative(RECIPES, join(parentPath, name)).replaceAll(sep, '/'));
    expect(paths.toSorted()).toEqual(recipeFiles.map(({ path }) => path).toSorted());
  });

  test('links only to headings that it has', async () => {
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
  test('checks the result of every recipe that a program can run', () => {
    const runnable = recipeFiles.filter(({ language }) => language !== undefined).map(({ path }) => path);
    expect(Object.keys(checks).toSorted()).toEqual(runnable.toSorted());
  });

  test.each([
    ['a language that is required and not there', 'curl,r', { PATH: '/nowhere' }, 'not on this machine: curl, r\n'],
    ['a language that it does not know', 'curl,perl', {}, '"perl" is none of curl, python, r, duckdb.'],
  ])('fails for %s', async (_, required, env, message) => {
    const { status, stderr } = await startTool('recipes.ts', ['--require', required], env).outcome;
    expect(status).toBe(1);
    expect(stderr).toContain(message);
  });
});

// The other languages' recipes are run by "npm run recipes", which says of each whether it could be run.
describe('the curl recipes', () => {
  let trials: Trials;
  beforeAll(async () => {
    trials = await prepareTrials();
  });
  afterAll(() => trials?.stop());

  test.each(recipeFiles.filter(({ language }) => language === 'curl'))('$path does what it says', async ({ path }) => {
    const curl = await findInterpreter.curl();
    if ('missing' in curl) throw new Error(curl.missing);
    expect(await checks[path]?.(trials.of(path, curl))).toMatch(/SHA-256|byte for byte/);
  });
});
