import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Digests } from '../../src/db/digests.ts';
import { withConnection } from '../../tools/connection.ts';
import { loadDemoData } from '../../tools/demo-data.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { digestsOf } from '../support/digests.ts';
import { loadFiles } from '../support/load-files.ts';
import { freePort, startService } from '../support/npm-start.ts';
import { startTool } from '../support/run-tool.ts';
import { runProgram } from '../support/programs.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let folder: string;
let account: { email: string; key: string; survey: string };
beforeAll(async () => {
  stack = await startStack();
  folder = await mkdtemp(join(tmpdir(), 'examples-'));
  const { email, surveys } = await loadDemoData(stack.address.databaseUrl);
  const { key } = await issueKey(stack.address.databaseUrl, { email, name: 'examples' });
  account = { email, key, survey: surveys[0] ?? '' };
});
afterAll(async () => {
  await stack?.stop();
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
  ['docs/api.md', 13],
])('the examples in %s print what they show', async (name, count) => {
  const page = await readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
  const examples = examplesOf(page).filter(({ command }) => !command.startsWith('export SURVEY_EXPORT_KEY='));
  expect(examples).toHaveLength(count);
  const { origin } = stack.address;
  const env = { SURVEY_EXPORT_URL: origin, SURVEY_EXPORT_KEY: account.key, SURVEY: account.survey };
  for (const { command, output } of examples) {
    const here = command.replace('http://127.0.0.1:8787', origin);
    const { status, stdout, stderr } = await runProgram(['sh', '-c', here], { cwd: folder, env });
    const lines = stdout.split(/\r?\n/).filter((line) => line !== '');
    expect({ command, status, stderr, output: lines }).toEqual({ command, status: 0, stderr: '', output });
  }
});

test('the import in docs/local.md takes the export of the demo data, into a database without it', async () => {
  const page = await readFile(new URL('../../docs/local.md', import.meta.url), 'utf8');
  const [, curl = '', start = '', args = ''] =
    /^(curl [^#]*-o form-data.csv)[^]*DATA_DIR=\.data-2 npm start -- (\S*)[^]*DATA_DIR=\.data-2 npm run db:import -- (.*)$/m.exec(
      page,
    ) ?? [];
  const { origin } = stack.address;
  const env = { SURVEY_EXPORT_KEY: account.key };
  await runProgram(['sh', '-c', curl.replace('http://127.0.0.1:8787', origin)], { cwd: folder, env });
  const DATA_DIR = join(folder, 'data-2');
  const second = await startService({ PORT: String(await freePort()), DATA_DIR }, [start]);
  const { status, stdout } = await startTool('import.ts', args.split(' '), { DATA_DIR }, folder).outcome;
  await second.stop('SIGTERM');
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^new account you@example.org\n6 form versions: 6 new.*\n3,921 responses: 3,921 new/),
  });
});

/** The test vectors of docs/sync.md: two files, the text of each response with its MD5 in hexadecimal, and the digests. */
async function readTestVectors() {
  const page = await readFile(new URL('../../docs/sync.md', import.meta.url), 'utf8');
  const section = page.slice(page.indexOf('### Test vectors'));
  const [formData = '', responses = '', texts = '', digests = ''] = [
    ...section.matchAll(/^```(?:csv|text)\n([^]*?)^```$/gm),
  ].map(([, block = '']) => block);
  const hashed = [...texts.matchAll(/([^]+?)\nmd5 ([0-9a-f]{32})\n+/g)];
  return {
    formData,
    responses,
    texts: hashed.map(([, text = '', md5 = '']) => ({ text, md5 })),
    digests: digests.trimEnd(),
  };
}

test('the test vectors in docs/sync.md are what the service returns', async () => {
  const { formData, responses, texts, digests } = await readTestVectors();
  const { origin, databaseUrl } = stack.address;
  // An import takes no JSON null.
  const files = { email: account.email, forms: formData, responses: responses.replace(',null,', ',,') };
  await loadFiles(databaseUrl, folder, files);
  const [surveyid = ''] = formData.split('\n')[1]?.split(',') ?? [];
  await withConnection(databaseUrl, (client) =>
    client.query(`update responses set metadata = 'null' where surveyid = $1 and question_ref = 'name'`, [surveyid]),
  );
  const get = async (path: string) => {
    const url = `${origin}/api/v1/responses/${path}?survey=Test+vectors`;
    return await (await fetch(url, { headers: { Authorization: `Bearer ${account.key}` } })).text();
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
