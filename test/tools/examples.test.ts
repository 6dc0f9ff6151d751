import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runProgram } from '../recipes/programs.ts';
import { type DemoService, startDemoService } from '../recipes/service.ts';

let service: DemoService;
let folder: string;
beforeAll(async () => {
  service = await startDemoService();
  folder = await mkdtemp(join(tmpdir(), 'examples-'));
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The commands of a page's `console` blocks, and the lines that they print. */
function examplesOf(page: string): { command: string; output: string[] }[] {
  return [...page.matchAll(/^```console\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
    [...block.matchAll(/^\$ ((?:.*\\\n)*.*)\n((?:[^$\n].*\n)*)/gm)].map(([, command = '', output = '']) => ({
      command,
      output: output.split('\n').filter((line) => line !== ''),
    })),
  );
}

test.each([
  ['README.md', 2],
  ['docs/api.md', 17],
])('the examples in %s print what they show', async (name, count) => {
  const page = await readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
  const examples = examplesOf(page).filter(({ command }) => !command.startsWith('export KEY='));
  expect(examples).toHaveLength(count);
  const env = { API: `${service.origin}/api/v1`, KEY: service.key, SURVEY: service.survey };
  for (const { command, output } of examples) {
    const here = command.replace('http://127.0.0.1:8787', service.origin);
    const { status, stdout, stderr } = await runProgram(['sh', '-c', here], { cwd: folder, env });
    const lines = stdout.split(/\r?\n/).filter((line) => line !== '');
    expect({ command, status, stderr, output: lines }).toEqual({ command, status: 0, stderr: '', output });
  }
});
