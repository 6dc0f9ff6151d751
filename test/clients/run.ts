// npm run test:python and npm run test:r: install a client as a user would, and run its tests
// against the service. Arguments are passed to pytest, or are the names of R test files: npm run
// test:python -- --rounds 200, npm run test:r -- download
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import { UserError, runCommand } from '../../tools/command.ts';
import { loadDemoData } from '../../tools/demo-data.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { storeSurvey } from '../support/data.ts';
import { type Exchange, startFaultProxy } from '../support/fault-proxy.ts';
import { hardResponses } from '../support/hard-workbook.ts';
import { newFolder } from '../support/once-per-run.ts';
import { runProgram } from '../support/programs.ts';
import { useStack } from '../support/stack-address.ts';
import { startStack } from '../support/stack.ts';

const [client, ...args] = process.argv.slice(2);
const folder = fileURLToPath(new URL(`../../clients/${client}/`, import.meta.url));
const NO_PROXY = { NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' };

const HARD_SURVEY = 'Hard to read/ü & “é”';

/** Runs the tests of the installed package; a warning and a skipped test are failures. */
const TEST_R = `
options(warn = 2)
filter <- commandArgs(trailingOnly = TRUE)
filter <- if (length(filter) > 0) paste(filter, collapse = "|")
found <- as.data.frame(testthat::test_dir(
  "tests/testthat", package = "surveyexport", load_package = "installed", filter = filter,
  reporter = "check", stop_on_failure = FALSE
))
if (any(found$failed + found$error + found$skipped + found$warning > 0)) quit(status = 1)
`;

/** The faults that the tests of R name, with a number after some, such as `cut-5000`. */
const FAULTS: Readonly<Record<string, (exchange: Exchange, number: number) => void>> = {
  pass() {},
  cut: (exchange, bytes) => exchange.cutAfter(bytes),
  shorten: (exchange, bytes) => exchange.change((body) => body.subarray(0, bytes)),
  page: (exchange) => exchange.reply(200, '<h1>Welcome</h1>\n', { 'Content-Type': 'text/html' }),
  moved: (exchange) =>
    exchange.reply(302, '', { Location: 'https://x.example/api/v1/surveys?secret' }),
  flood: (exchange, status) => exchange.reply(status, Buffer.alloc(2 ** 27, ' ')),
  many: (exchange) => exchange.reply(200, `[${'[],'.repeat(1e7)}[]]`),
  other: (exchange) => exchange.reply(200, '[[1]]'),
  utf16: (exchange) => exchange.reply(200, Buffer.from('[]', 'utf16le')),
  escape: (exchange) => exchange.reply(400, '{"error":{"message":"\\u001b[31m\\u202e"}}'),
  date(exchange, seconds) {
    const time = new Date(Date.now() + 1000 * seconds);
    exchange.reply(503, '', { 'Retry-After': time.toUTCString() });
  },
};

await runCommand(() => (client === 'r' ? testR() : testPython()));

async function testPython(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const environment = await newFolder();
  const python = join(
    environment,
    process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python',
  );
  const [stack] = await Promise.all([startStack(), installPython(environment, python)]);
  cleanUp.defer(() => stack.stop());
  const { origin, databaseUrl } = stack.address;
  const { email } = await loadDemoData(databaseUrl);
  const keyOf = async (account: string, limits: KeyLimits | null = null) =>
    (await issueKey(databaseUrl, { email: account, name: 'python', limits })).key;
  const limits: KeyLimits = {
    v: 1,
    metadata: ['note'],
    pageid: false,
    secret: randomBytes(32).toString('hex'),
  };

  await run(python, ['-m', 'ruff', 'check']);
  await run(python, ['-m', 'ruff', 'format', '--check']);
  await run(python, ['-m', 'mypy']);
  await run(python, ['-m', 'pytest', '-p', 'no:cacheprovider', '-rs', ...args], {
    SURVEY_EXPORT_TEST_URL: origin,
    SURVEY_EXPORT_TEST_KEY: await keyOf(email),
    SURVEY_EXPORT_TEST_OTHER_KEY: await keyOf('other-lab@example.org'),
    SURVEY_EXPORT_TEST_LIMITED_KEY: await keyOf(email, limits),
    DATABASE_URL: databaseUrl,
    ...NO_PROXY,
  });
}

async function installPython(environment: string, python: string): Promise<void> {
  await run(process.env['PYTHON'] ?? 'python3', ['-m', 'venv', environment]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-compile', '--disable-pip-version-check'];
  await run(python, [...pip, './[pandas,stats]', '-r', 'tests/requirements.txt']);
  await run(python, [...pip, '--no-deps', '-r', 'tests/requirements-no-deps.txt']);
}

async function testR(): Promise<void> {
  const libraries = ['library(httr2)', 'library(tibble)', 'library(haven)', 'library(testthat)'];
  const { status } = await runProgram(['Rscript', '-e', libraries.join('; ')]);
  if (status !== 0)
    throw new UserError(
      'R is not installed, or not with httr2, tibble, haven and testthat. On Debian and Ubuntu: ' +
        'sudo apt install r-base-core r-cran-httr2 r-cran-tibble r-cran-haven r-cran-testthat',
    );
  await using cleanUp = new AsyncDisposableStack();
  const library = await newFolder();
  const [stack] = await Promise.all([
    startStack(),
    run('R', ['CMD', 'INSTALL', `--library=${library}`, '.']),
  ]);
  cleanUp.defer(() => stack.stop());
  useStack(stack.address);
  const { origin, databaseUrl } = stack.address;
  const { email } = await loadDemoData(databaseUrl);
  const { account } = await storeSurvey(hardResponses(), { name: HARD_SURVEY });
  const proxy = await startFaultProxy(origin);
  cleanUp.defer(() => proxy.close());
  injectRequested(proxy);
  await run('Rscript', ['--vanilla', '-e', TEST_R, ...args], {
    R_LIBS: library,
    SURVEY_EXPORT_TEST_URL: origin,
    SURVEY_EXPORT_TEST_PROXY: proxy.url,
    SURVEY_EXPORT_TEST_KEY: (await issueKey(databaseUrl, { email, name: 'r' })).key,
    SURVEY_EXPORT_TEST_HARD_KEY: account.key,
    SURVEY_EXPORT_TEST_HARD_SURVEY: HARD_SURVEY,
    ...NO_PROXY,
  });
}

/**
 * Lets the tests set the faults of the next requests: `GET /faults/cut-5000,503`, where a number is
 * a status. It returns how many requests there were since.
 */
function injectRequested(proxy: Awaited<ReturnType<typeof startFaultProxy>>): void {
  let faults: string[] = [];
  let requests = 0;
  proxy.inject((exchange) => {
    const [, requested] = /^\/faults\/(.*)$/.exec(exchange.path) ?? [];
    if (requested !== undefined) {
      exchange.reply(200, String(requests));
      faults = requested.split(',');
      requests = 0;
      return;
    }

    requests++;
    const [name = '', number = 0] = (faults.shift() ?? 'pass').split('-');
    const fault = FAULTS[name];
    if (fault) fault(exchange, Number(number));
    else exchange.reply(Number(name), '{"error":{"message":"busy"}}', { 'Retry-After': '0' });
  });
}

async function run(
  program: string,
  programArgs: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const child = spawn(program, programArgs, {
    cwd: folder,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new UserError(`${programArgs.join(' ')} failed`);
}
