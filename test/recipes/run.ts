// npm run recipes: runs the programs in recipes/ against the service, and checks what they save,
// also after faults. PYTHON names a Python that has their libraries.
import assert from 'node:assert/strict';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError, messageOf, print, runCommand } from '../../tools/command.ts';
import { fetchApi, query } from '../support/api.ts';
import { parseCsv } from '../support/csv.ts';
import { createAccount, storeSurvey } from '../support/data.ts';
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
import { type Finished, findPython, runProgram } from '../support/programs.ts';
import { useStack } from '../support/stack-address.ts';
import { startStack } from '../support/stack.ts';

const RECIPES = new URL('../../recipes/', import.meta.url);

type Service = Awaited<ReturnType<typeof startService>>;
/** Runs a recipe, or another program of its language. @param options.fault of its requests */
type Run = (
  folder: string,
  options?: { fault?: Fault | undefined; env?: NodeJS.ProcessEnv | undefined; file?: string },
) => Promise<Finished>;

/** The body ends after a line, as if it were complete. */
const shorten: Fault = (exchange) =>
  exchange.change((body) => body.subarray(0, body.indexOf('\n', 100_000) + 1));
/** What the recipe prints, and what is wrong: a fault, or a setting. */
const MISTAKES: [message: RegExp, fault?: Fault | undefined, env?: NodeJS.ProcessEnv][] = [
  [/./, (exchange) => exchange.cutAfter(50_000)],
  [/responses/, shorten],
  [/502/, (exchange) => exchange.reply(502, '<h1>Bad gateway</h1>')],
  [/401|Invalid Token/, undefined, { SURVEY_EXPORT_KEY: 'sres_wrong' }],
  [/No responses were found|no_responses/, undefined, { SURVEY: 'no such survey' }],
];

const DUCKDB_IN_PYTHON = `
import duckdb, sys
database = duckdb.connect()
for statement in duckdb.extract_statements(open(sys.argv[1], encoding='utf-8').read()):
    database.execute(statement)
`;

async function checkDownload(service: Service, run: Run): Promise<void> {
  const folder = await newFolder();
  const home = await newFolder();
  await writeFile(join(home, '.curlrc'), 'include\n');
  await expectSuccess(run(folder, { env: { HOME: home } }));
  const found = await readFile(join(folder, 'responses.csv'));
  assert.ok((await service.get('csv')).equals(found), 'other bytes');

  for (const [message, fault, env] of MISTAKES) {
    const empty = await newFolder();
    const { status, stderr } = await run(empty, { fault, env });
    assert.notEqual(status, 0, 'it succeeded, but should have failed');
    assert.match(stderr, message);
    const complete = (await readdir(empty)).filter((name) => !name.endsWith('.part'));
    assert.deepEqual(complete, [], 'files that look complete');
  }
}

async function checkQuery(service: Service, run: Run): Promise<void> {
  const folder = await newFolder();
  const csv = await service.get('csv');
  await writeFile(join(folder, 'responses.csv'), csv);
  await expectSuccess(run(folder));
  const file = join(folder, 'to-csv.sql');
  await writeFile(file, `copy (from 'responses.parquet') to 'parquet.csv' (header)`);
  await expectSuccess(run(folder, { file }));
  assert.deepEqual(parseCsv(await readFile(join(folder, 'parquet.csv'))), parseCsv(csv));
}

async function checkWorkbooks(service: Service, run: Run): Promise<void> {
  const folder = await newFolder();
  const save = async (name: string, parameters: Readonly<Record<string, string>>) =>
    writeFile(join(folder, `${name}.xlsx`), await service.get('xlsx', parameters));
  for (const [name, { table }] of Object.entries(LAYOUTS))
    await save(name, { ...table, codebook: 'true' });
  await save('numbers', { survey: NUMBERS_SURVEY, ...NUMBERS_TABLE });
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
    for (const library of ['openpyxl', 'calamine', 'pandas']) {
      // the escapes that it does not decode
      const undecoded = library === 'calamine' ? /FFF[EF]/ : undefined;
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
  await storeSurvey(hardResponses(), { account, name: SURVEY });
  await storeSurvey(numberResponses(), { account, name: NUMBERS_SURVEY });
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
  const env = {
    SURVEY_EXPORT_URL: proxy.url,
    SURVEY_EXPORT_KEY: key,
    SURVEY,
    no_proxy: '127.0.0.1',
  };
  return { env, proxy, get };
}

await runCommand(async () => {
  const python = await findPython(['duckdb', 'openpyxl', 'pandas', 'python_calamine']);
  if ('missing' in python) throw new UserError(python.missing);
  await using cleanUp = new AsyncDisposableStack();
  const service = await startService(cleanUp);
  /** Runs a recipe, and checks what it saves. */
  async function checkRecipe(
    path: string,
    command: readonly [string, ...string[]],
    check: typeof checkDownload,
  ): Promise<void> {
    const recipe = fileURLToPath(new URL(path, RECIPES));
    const run: Run = (cwd, { fault, env = {}, file = recipe } = {}) => {
      service.proxy.inject(fault);
      return runProgram([...command, file], { cwd, env: { ...service.env, ...env } });
    };

    try {
      await check(service, run);
      print(`ran     ${path}`);
    } catch (error) {
      process.exitCode = 1;
      print(`FAILED  ${path}: ${messageOf(error).slice(0, 500)}`);
    }
  }

  print(python.version);
  await checkRecipe('curl/download.sh', ['sh'], checkDownload);
  await checkRecipe('duckdb/query.sql', [python.python, '-c', DUCKDB_IN_PYTHON], checkQuery);
  // npm's libraries that read workbooks are in test/api
  const workbooks = '../test/recipes/read_workbooks.py';
  await checkRecipe(workbooks, [python.python, '-B'], checkWorkbooks);
});
