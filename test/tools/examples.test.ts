import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Digests } from '../../src/db/digests.ts';
import { runProgram } from '../recipes/programs.ts';
import { type DemoService, startDemoService } from '../recipes/service.ts';
import { readTestVectors } from '../recipes/test-vectors.ts';
import { digestsOf } from '../support/digests.ts';

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
  ['docs/api.md', 19],
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

test('the test vectors in docs/sync.md are what the service returns', async () => {
  const { formData, responses, texts, digests } = await readTestVectors();
  // An import takes no JSON null.
  const files = { forms: join(folder, 'vector-forms.csv'), responses: join(folder, 'vector-responses.csv') };
  await writeFile(files.forms, formData);
  await writeFile(files.responses, responses.replace(',null,', ',,'));
  await service.importFiles(files);
  const [surveyid = ''] = formData.split('\n')[1]?.split(',') ?? [];
  await service.sql(`update responses set metadata = 'null' where surveyid = '${surveyid}' and question_ref = 'name'`);
  const get = async (path: string) => {
    const url = `${service.origin}/api/v1/responses/${path}?survey=Test+vectors`;
    return await (await fetch(url, { headers: { Authorization: `Bearer ${service.key}` } })).text();
  };
  expect([await get('form-data'), await get('csv'), await get('digests')]).toEqual([formData, responses, digests]);
  expect(JSON.stringify(digestsOf(Buffer.from(responses), Buffer.from(formData)))).toBe(digests);

  const hashes = texts.map(({ text }) => createHash('md5').update(text).digest());
  expect(hashes.map((hash) => hash.toString('hex'))).toEqual(texts.map(({ md5 }) => md5));
  const sumsByDay = [hashes.slice(0, 3), hashes.slice(3)].map((day) =>
    [0, 8].map((at) => {
      const sum = day.reduce((total, hash) => total + hash.readBigUInt64BE(at), 0n);
      return BigInt.asUintN(64, sum).toString(16).padStart(16, '0');
    }),
  );
  expect(sumsByDay.map((halves) => halves.join(''))).toEqual(
    (JSON.parse(digests) as Digests).digests.map(({ digest }) => digest),
  );
});
