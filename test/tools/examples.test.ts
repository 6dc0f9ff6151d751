import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import type { Digests } from '../../src/db/digests.ts';
import { loadDemoData } from '../../tools/demo-data.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { query } from '../support/database.ts';
import { loadFiles } from '../support/load-files.ts';
import { newFolder } from '../support/once-per-run.ts';
import { startTool } from '../support/run-tool.ts';
import { runProgram } from '../support/programs.ts';
import { startStack } from '../support/stack.ts';

const folder = await newFolder();
const stack = await startStack();
afterAll(() => stack.stop());
const { origin, databaseUrl } = stack.address;
const { email, surveys } = await loadDemoData(databaseUrl);
const { key } = await issueKey(databaseUrl, { email, name: 'examples' });

test('demo data are loaded only into a database without accounts', async () => {
  await expect(loadDemoData(databaseUrl)).rejects.toThrow(
    'can only be loaded into an empty database',
  );
});

/** The commands of a page's `console` blocks, and the lines that they print. */
function examplesOf(page: string): { command: string; output: string[] }[] {
  return [...page.matchAll(/^```console\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
    [...block.matchAll(/^\$ ((?:.*\\\n)*.*)\n((?:[^$\n].*\n)*)/gm)].map(
      ([, command = '', output = '']) => ({
        command,
        output: output.split('\n').filter((line) => line !== ''),
      }),
    ),
  );
}

test.each([
  ['README.md', 2],
  ['docs/api.md', 12],
  ['docs/analysis.md', 3],
])('the examples in %s print what they show', async (name, count) => {
  const page = await readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
  const examples = examplesOf(page).filter(({ command }) => !command.startsWith('export '));
  expect(examples).toHaveLength(count);
  const env = { SURVEY_EXPORT_URL: origin, SURVEY_EXPORT_KEY: key, SURVEY: surveys[0] };
  for (const { command, output } of examples) {
    const here = command.replace('http://127.0.0.1:8787', origin);
    const { status, stdout, stderr } = await runProgram(['sh', '-c', here], { cwd: folder, env });
    const lines = stdout.split(/\r?\n/).filter((line) => line !== '');
    expect({ command, status, stderr, output: lines }).toEqual({
      command,
      status: 0,
      stderr: '',
      output,
    });
  }
});

test('the test vectors in docs/internals/digests.md are what the service returns', async () => {
  const page = await readFile(new URL('../../docs/internals/digests.md', import.meta.url), 'utf8');
  const blocks = page
    .slice(page.indexOf('## Test vectors'))
    .matchAll(/^```(?:csv|text)\n([^]*?)^```$/gm);
  const [forms = '', responses = '', texts = '', digests = ''] = Array.from(
    blocks,
    ([, block = '']) => block,
  );
  // An import takes no JSON null.
  const files = { suffix: ' of vectors.csv', forms, responses: responses.replace(',null,', ',,') };
  await loadFiles(databaseUrl, folder, { email, ...files });
  const [surveyid = ''] = forms.split('\n')[1]?.split(',') ?? [];
  await query(
    databaseUrl,
    `update responses set metadata = 'null' where surveyid = $1 and question_ref = 'name'`,
    [surveyid],
  );
  const get = async (path: string) => {
    const url = `${origin}/api/v1/responses/${path}?survey=Test+vectors`;
    return await (await fetch(url, { headers: { Authorization: `Bearer ${key}` } })).text();
  };
  const body = digests.trimEnd();
  expect([await get('form-data'), await get('csv'), await get('digests')]).toEqual([
    forms,
    responses,
    body,
  ]);

  const hashes = Array.from(
    texts.matchAll(/([^]+?)\nmd5 ([0-9a-f]{32})\n+/g),
    ([, text = '', md5 = '']) => {
      expect(createHash('md5').update(text).digest('hex')).toBe(md5);
      return md5;
    },
  );
  const sumOf = (day: string[], at: number) => {
    const sum = day.reduce((total, md5) => total + BigInt(`0x${md5.slice(at, at + 16)}`), 0n);
    return BigInt.asUintN(64, sum).toString(16).padStart(16, '0');
  };
  const days = [hashes.slice(0, 3), hashes.slice(3)];
  expect(days.map((day) => sumOf(day, 0) + sumOf(day, 16))).toEqual(
    (JSON.parse(body) as Digests).digests.map(({ digest }) => digest),
  );
});

test('the import in docs/local.md takes the export of the demo data, into a database without it', async () => {
  const page = await readFile(new URL('../../docs/local.md', import.meta.url), 'utf8');
  const [, curl = '', args = ''] =
    /^(curl [^#]*-o form-data.csv)[^]*npm start -- --no-demo[^]*DATA_DIR=\.data-2 npm run db:import -- (.*)$/m.exec(
      page,
    ) ?? [];
  const env = { SURVEY_EXPORT_KEY: key };
  await runProgram(['sh', '-c', curl.replace('http://127.0.0.1:8787', origin)], {
    cwd: folder,
    env,
  });
  // a second service would have another database
  await query(databaseUrl, 'truncate users cascade');
  const { status, stdout } = await startTool(
    'import.ts',
    args.split(' '),
    { DATABASE_URL: databaseUrl },
    { cwd: folder },
  ).outcome;
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(
      /^new account you@example.org\n6 form versions: 6 new.*\n3,221 responses: 3,221 new/,
    ),
  });
});
