import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvOf, responseRow } from '../support/export-files.ts';
import { writeFiles } from '../support/load-files.ts';
import { type Outcome, startTool, withoutDatabase } from '../support/run-tool.ts';
import { type RunningDatabase, dump, startDatabase } from '../support/database.ts';

function withoutProgress(stderr: string): string {
  return withoutDatabase(stderr).replaceAll(/^(reading|checking|comparing|writing) \w+: .* s\n/gm, '');
}

function start(args: string[], env: NodeJS.ProcessEnv, cwd?: string): ReturnType<typeof startTool> {
  return startTool('import.ts', args, env, cwd);
}

describe('npm run db:import', () => {
  let running: RunningDatabase;
  let folder: string;
  let paths: { forms: string; responses: string };

  beforeAll(async () => {
    running = await startDatabase();
    folder = await mkdtemp(join(tmpdir(), 'test-import-'));
    paths = await writeFiles(folder);
  });
  afterAll(async () => {
    await running?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Removes progress lines, which only slow machines print. */
  const run = async (args: string[]): Promise<Outcome> => {
    const outcome = await start(args, { DATABASE_URL: running.url }).outcome;
    return { ...outcome, stderr: withoutProgress(outcome.stderr) };
  };
  const options = (values: Record<string, string>): string[] =>
    Object.entries({ email: 'ann@example.org', ...paths, ...values }).flatMap(([name, value]) => [`--${name}`, value]);

  test('reports a bad line and loads nothing', async () => {
    const before = await dump(running.url);
    const files = await writeFiles(folder, { responses: csvOf([responseRow(), responseRow({ surveyid: 'abc' })]) });
    expect(await run(options(files))).toEqual({
      status: 1,
      stdout: '',
      stderr: `${files.responses} line 3: surveyid: "abc" is not a UUID\n`,
    });
    expect(await dump(running.url)).toEqual(before);
  });

  test.runIf(process.platform !== 'win32')('loads nothing when it is interrupted', async () => {
    const before = await dump(running.url);
    const pipe = join(folder, 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    const { child, outcome } = start(options({ responses: pipe }), { DATABASE_URL: running.url });
    const [header = '', row = ''] = csvOf([responseRow({ userid: 'user' })]).split('\n');
    async function* lines(): AsyncGenerator<string, void> {
      yield `${header}\n`;
      for (let index = 0; index < 50_000; index += 1) {
        if (index === 25_000) child.kill('SIGINT'); // a pipe holds only 64 KiB, so the import has read most of them
        yield `${row.replace('user', String(index))}\n`;
      }
    }
    await pipeline(lines, createWriteStream(pipe)).catch(() => {}); // the pipe breaks when the import ends
    const { status, stdout, stderr } = await outcome;
    const error = withoutProgress(stderr);
    expect({ status, stdout, error }).toEqual({ status: 1, stdout: '', error: 'interrupted: nothing was loaded\n' });
    expect(await dump(running.url)).toEqual(before);
  });

  test('reports what it loaded, and on a second run that nothing changed', async () => {
    await writeFiles(folder, {
      responses: csvOf(Array.from({ length: 1200 }, (_, index) => responseRow({ userid: `${index}` }))),
    });
    expect(await run(options({}))).toEqual({
      status: 0,
      stdout:
        'new account ann@example.org\n' +
        '1 form version: 1 new, 0 changed, 0 unchanged\n' +
        '1,200 responses: 1,200 new, 0 changed, 0 unchanged\n',
      stderr: '',
    });
    expect(await run(options({}))).toEqual({
      status: 0,
      stdout:
        'account ann@example.org\n' +
        '1 form version: 0 new, 0 changed, 1 unchanged\n' +
        '1,200 responses: 0 new, 0 changed, 1,200 unchanged\n' +
        'nothing changed: all rows were already stored\n',
      stderr: '',
    });
  });

  test('with --dry-run reports what it would load, and loads nothing', async () => {
    const before = await dump(running.url);
    await writeFiles(folder, { responses: csvOf([responseRow({ userid: 'new' })]) });
    expect(await run([...options({}), '--dry-run'])).toEqual({
      status: 0,
      stdout:
        'account ann@example.org\n' +
        '1 form version: 0 new, 0 changed, 1 unchanged\n' +
        '1 response: 1 new, 0 changed, 0 unchanged\n' +
        'dry run: nothing was stored\n',
      stderr: '',
    });
    expect(await dump(running.url)).toEqual(before);
  });

  test('resolves paths relative to the folder in which npm was called', async () => {
    const names = { forms: basename(paths.forms), responses: basename(paths.responses) };
    const env = { DATABASE_URL: running.url, npm_lifecycle_event: 'db:import', INIT_CWD: folder };
    expect(await start(options(names), env).outcome).toMatchObject({ status: 0 });
  });
});

describe('npm run db:import refuses', () => {
  const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' };

  test.each([
    ['no files', ['--email', 'a@example.org'], "error: required option '--forms <file>' not specified"],
    [
      'what is not an e-mail address',
      ['--email', 'ann', '--forms', 'f', '--responses', 'r'],
      '--email: "ann" is not an e-mail address',
    ],
    [
      'an empty path',
      ['--email', 'a@b', '--forms', 'f', '--responses', ''],
      '--responses: is empty: expected the path of a file',
    ],
  ])('%s', async (_, args, message) => {
    const { status, stdout, stderr } = await start(args, env).outcome;
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('nothing with --help', async () => {
    const { status, stdout, stderr } = await start(['--help'], env).outcome;
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const word of ['--email', '--forms', '--responses', 'DATABASE_URL', 'Example']) expect(stdout).toContain(word);
  });
});
