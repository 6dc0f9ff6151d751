// npm run recipes: runs the programs in recipes/ against the service, and checks what they save,
// also after faults.
import assert from 'node:assert/strict';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { UserError, messageOf, runCommand } from '../../tools/command.ts';
import { fetchApi, query } from '../support/api.ts';
import { parseCsv } from '../support/csv.ts';
import { addResponses, createAccount, createSurvey } from '../support/data.ts';
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts';
import {
  LAYOUTS,
  NUMBERS_SURVEY,
  NUMBERS_TABLE,
  SURVEY,
  type Sheets,
  decoded,
  expectNumbers,
  expectSheets,
  hardResponses,
  numberResponses,
} from '../support/hard-workbook.ts';
import { newFolder } from '../support/once-per-run.ts';
import { type Finished, type Interpreter, findInterpreter } from '../support/programs.ts';
import { useStack } from '../support/stack-address.ts';
import { startStack } from '../support/stack.ts';

type Language = keyof typeof findInterpreter;
const LANGUAGES = Object.keys(findInterpreter) as Language[];
const RECIPES = fileURLToPath(new URL('../../recipes/', import.meta.url));

type Service = Awaited<ReturnType<typeof startService>>;
/** Runs a recipe, or another program of its language. */
type Run = (folder: string, options?: RunOptions) => Promise<Finished>;

interface RunOptions {
  /** Of the recipe's requests. */
  readonly fault?: Fault;
  readonly env?: NodeJS.ProcessEnv;
  readonly file?: string;
}

const passes: Fault = () => {};
/** The body ends after a line, as if it were complete. */
const shorten: Fault = (exchange) =>
  exchange.change((body) => body.subarray(0, body.indexOf('\n', 100_000) + 1));
/** What is wrong, the fault or the setting, and what the recipe prints. */
type Mistake = [fault: Fault, env: NodeJS.ProcessEnv, message: RegExp];
const MISTAKES: Mistake[] = [
  [(exchange) => exchange.cutAfter(50_000), {}, /./],
  [shorten, {}, /responses/],
  [passes, { SURVEY_EXPORT_KEY: 'sres_wrong' }, /401|Invalid Token/],
  [passes, { SURVEY: 'no such survey' }, /No responses were found|no_responses/],
  [(exchange) => exchange.reply(502, '<h1>Bad gateway</h1>'), {}, /502/],
];

/**
 * Each recipe's language, and what it has to save; and Python's libraries that read workbooks:
 * npm's are in test/api.
 */
const checks: Readonly<Record<string, [Language, (service: Service, run: Run) => Promise<void>]>> =
  {
    'curl/download.sh': ['curl', checkDownload],

    'duckdb/query.sql': [
      'duckdb',
      async (service, run) => {
        const folder = await service.folder();
        const csv = await service.get('csv');
        await writeFile(join(folder, 'responses.csv'), csv);
        await expectSuccess(run(folder));
        await writeFile(
          join(folder, 'to-csv.sql'),
          `copy (from 'responses.parquet') to 'parquet.csv' (header)`,
        );
        await expectSuccess(run(folder, { file: join(folder, 'to-csv.sql') }));
        assert.deepEqual(parseCsv(await readFile(join(folder, 'parquet.csv'))), parseCsv(csv));
      },
    ],

    '../test/recipes/read_workbooks.py': ['workbooks', checkWorkbooks],
  };

async function checkDownload(service: Service, run: Run): Promise<void> {
  const folder = await service.folder();
  const home = await service.folder();
  await writeFile(join(home, '.curlrc'), 'include\n');
  await expectSuccess(run(folder, { env: { HOME: home } }));
  const found = await readFile(join(folder, 'responses.csv'));
  assert.ok((await service.get('csv')).equals(found), 'other bytes');

  for (const [fault, env, message] of MISTAKES) {
    const empty = await service.folder();
    const { status, stderr } = await run(empty, { fault, env });
    assert.notEqual(status, 0, 'it succeeded, but should have failed');
    assert.match(stderr, message);
    const complete = (await readdir(empty)).filter((name) => !name.endsWith('.part'));
    assert.deepEqual(complete, [], 'files that look complete');
  }
}

async function checkWorkbooks(service: Service, run: Run): Promise<void> {
  const folder = await service.folder();
  for (const [name, { table }] of Object.entries(LAYOUTS))
    await writeFile(
      join(folder, `${name}.xlsx`),
      await service.get('xlsx', { ...table, codebook: 'true' }),
    );
  const ofNumbers = { survey: NUMBERS_SURVEY, ...NUMBERS_TABLE };
  await writeFile(join(folder, 'numbers.xlsx'), await service.get('xlsx', ofNumbers));
  const { stdout } = await expectSuccess(run(folder));
  const found = JSON.parse(stdout) as Record<string, Record<string, Sheets>>;
  for (const library of ['openpyxl', 'calamine'])
    expectNumbers(found[library]?.['numbers.xlsx']?.['responses'] ?? []);
  for (const [name, { table, codebook }] of Object.entries(LAYOUTS)) {
    const responses = await service.get('csv', table);
    const expected = {
      responses,
      codebook: await service.get('questions', { ...codebook, format: 'csv' }),
    };
    for (const library of ['openpyxl', 'calamine', 'xlsx2csv', 'pandas']) {
      // the escapes that it does not decode
      const undecoded = library === 'calamine' ? /FFF[EF]/ : /[\da-f]{4}/i;
      const sheets = Object.entries(found[library]?.[`${name}.xlsx`] ?? {}).map(([sheet, rows]) => [
        sheet,
        rows.map((row) =>
          row.map((cell) => (typeof cell === 'string' ? decoded(cell, undecoded) : cell)),
        ),
      ]);
      expectSheets(Object.fromEntries(sheets) as Sheets, expected);
    }
  }
}

async function expectSuccess(running: Promise<Finished>): Promise<Finished> {
  const finished = await running;
  assert.equal(finished.status, 0, `it exited with status ${finished.status}: ${finished.stderr}`);
  return finished;
}

/** Starts the service with a survey that is hard to read, behind a proxy that injects faults. */
async function startService(cleanUp: AsyncDisposableStack) {
  const stack = await startStack();
  cleanUp.defer(() => stack.stop());
  useStack(stack.address);
  const proxy = await startFaultProxy(stack.address.origin);
  cleanUp.defer(() => proxy.close());
  const account = await createAccount();
  const { key } = account;
  await addResponses(await createSurvey(account, SURVEY), hardResponses());
  await addResponses(await createSurvey(account, NUMBERS_SURVEY), numberResponses());
  /** The body of a response about the survey, requested without the proxy. */
  async function get(
    path: string,
    parameters: Readonly<Record<string, string>> = {},
  ): Promise<Buffer> {
    const { status, bytes } = await fetchApi(
      `/responses/${path}${query({ survey: SURVEY, ...parameters })}`,
      { key },
    );
    assert.equal(status, 200);
    return bytes;
  }
  return { key, proxy, folder: newFolder, get };
}

function runOf({ key, proxy }: Service, { run }: Interpreter, recipe: string): Run {
  return async (cwd, { fault, env = {}, file = recipe } = {}) => {
    proxy.inject(fault);
    const settings = {
      SURVEY_EXPORT_URL: proxy.url,
      SURVEY_EXPORT_KEY: key,
      SURVEY,
      no_proxy: '127.0.0.1',
    };
    return await run(file, { cwd, env: { ...settings, ...env } });
  };
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

await runCommand(async () => {
  const { require: required } = new Command('npm run recipes --')
    .description(
      'Runs every recipe whose language is installed. PYTHON names a Python that has the libraries.',
    )
    .option(
      '--require <languages>',
      `fail if one of these is not installed: ${LANGUAGES.join(',')}`,
      '',
    )
    .allowExcessArguments(false)
    .parse()
    .opts<{ require: string }>();
  const found = new Map<string, Interpreter>();
  for (const language of LANGUAGES) {
    const one = await findInterpreter[language]();
    print(`${language.padEnd(9)}  ${'missing' in one ? one.missing : one.version}`);
    if (!('missing' in one)) found.set(language, one);
  }
  const missing = required.split(',').filter((language) => language !== '' && !found.has(language));
  if (missing.length > 0) throw new UserError(`not installed: ${missing.join(', ')}`);

  await using cleanUp = new AsyncDisposableStack();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void cleanUp.disposeAsync().finally(() => process.exit(1)));
  const service = await startService(cleanUp);
  for (const [path, [language, check]] of Object.entries(checks)) {
    const file = resolve(RECIPES, path);
    const interpreter = found.get(language);
    const start = performance.now();
    const outcome = interpreter
      ? await check(service, runOf(service, interpreter, file)).then(
          () => `ran      ${((performance.now() - start) / 1000).toFixed(1)} s`,
          (error: unknown) => `FAILED   ${messageOf(error).slice(0, 500)}`,
        )
      : 'not run';
    if (outcome.startsWith('FAILED')) process.exitCode = 1;
    print(`${file.split('/').slice(-2).join('/').padEnd(26)}  ${outcome}`);
  }
});
