import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { lockAddress } from '../../tools/accounts.ts';
import { inTransaction, withConnection } from '../../tools/connection.ts';
import { copySurveys } from '../../tools/import/copy-surveys.ts';
import { openSource } from '../../tools/import/source.ts';
import { dump, query, startDatabase, untilBlocked } from '../support/database.ts';
import {
  DEFAULTS,
  type PlatformAccount,
  type PlatformForm,
  type PlatformResponse,
  startPlatform,
} from '../support/platform.ts';
import { printed, refusal } from '../support/expected.ts';
import { incompressible } from '../support/export-files.ts';
import { loadFiles } from '../support/load-files.ts';
import { newFolder } from '../support/once-per-run.ts';
import { runHere } from '../support/run-here.ts';
import { runProgram } from '../support/programs.ts';
import { startTool } from '../support/run-tool.ts';

const KEY = 'key-of-ann';
const email = 'ann@example.org';
const idOf = (number: number) => `3f1c6c5e-0000-4000-8000-${String(number).padStart(12, '0')}`;

const form = (values: Partial<PlatformForm> = {}): PlatformForm => ({
  id: idOf(1),
  survey_name: 'Health & Habits',
  shortcode: 'start',
  created: '2026-01-05 09:00:00.123456+00',
  ...values,
});

const row = (values: Partial<PlatformResponse> = {}): PlatformResponse => ({
  surveyid: idOf(1),
  userid: '2000921492222525',
  question_ref: 'health',
  timestamp: '2026-03-01 00:03:43.77+00',
  ...values,
});

/** Responses a minute apart, to one question of many participants. */
const responses = (count: number, values: Partial<PlatformResponse> = {}) =>
  Array.from({ length: count }, (_, index) =>
    row({
      userid: String(1000 + index),
      timestamp: `2026-03-01 00:${String(10 + Math.floor(index / 2))}:43.770047+00`,
      ...values,
    }),
  );

type Timing = Parameters<typeof openSource>[3];

const { url } = await startDatabase();
beforeEach(() => query(url, 'truncate users cascade'));

const stored = (columns: string) =>
  query(
    url,
    `select ${columns} from responses join surveys on surveys.id = surveyid
     order by timestamp, responses.userid, question_ref`,
  );

/** A platform with an account, whose surveys are copied into the database. */
async function start(account: Partial<PlatformAccount> = {}, ...others: PlatformAccount[]) {
  const ann = { key: KEY, forms: [form()], responses: [row()], ...account };
  const platform = await startPlatform([ann, ...others]);
  const line = `--from ${platform.url} --email ${email}`;
  const env = { DATABASE_URL: url, SURVEY_SOURCE_KEY: KEY };
  const { signal } = new AbortController();
  const open = (timing?: Timing) => openSource(platform.url, KEY, signal, timing);
  return Object.assign(platform, {
    ann,
    open,
    /** Copies without the command, with short pauses. */
    async copyQuickly() {
      const notices: string[] = [];
      const onNotice = (notice: string) => notices.push(notice);
      const options = { dryRun: false, signal, onProgress() {}, onNotice };
      const copies = await copySurveys(url, open({ pause: 1 }), { email }, options);
      return { errors: copies.map(({ error }) => error), notices };
    },
    /** @returns what the command prints */
    run: async (more = '') => runHere('import.ts', `${line} ${more}`, env),
    /** Starts the command in a separate process. */
    start: () => startTool('import.ts', line.split(' '), env),
  });
}

describe('npm run db:import -- --from', () => {
  // test/api/copy.test.ts compares every column
  test('copies times exactly, with the microseconds of tokens, large numbers, seeds and settings', async () => {
    const all = [
      row({ metadata: '{"seed": 2960024492}' }),
      row({ timestamp: '2026-03-01 00:03:43.770047+00', metadata: null }),
      row({ timestamp: '2026-03-01 00:03:44+00:00', flowid: '9007199254740993' }),
      row({ timestamp: '2090-01-01 00:00:00.000001+00' }),
    ];
    const settings = { off_time: '2026-05-01T00:00:00.000Z', timeouts: [{ type: 'absolute' }] };
    const second = form({ id: idOf(2), created: '2026-02-01 00:00:00+00' });
    const platform = await start({ forms: [form(settings), second], responses: all });
    expect(await platform.run()).toEqual(
      printed(
        'Health & Habits: 2 form versions: 2 new, 0 changed, 0 unchanged; 4 responses: 4 new, 0 changed, 0 unchanged',
      ),
    );
    const columns = `to_char(timestamp at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as time, flowid::text, seed::text`;
    const plain = { flowid: '1', seed: null };
    expect(await stored(columns)).toEqual([
      { time: '2026-03-01 00:03:43.770000', flowid: '1', seed: '2960024492' },
      { time: '2026-03-01 00:03:43.770047', ...plain },
      { time: '2026-03-01 00:03:44.000000', flowid: '9007199254740993', seed: null },
      { time: '2090-01-01 00:00:00.000001', ...plain },
    ]);
    const forms = await query(
      url,
      `select timeouts, created at time zone 'UTC' = '2026-01-05 09:00:00.123456' as exact,
         off_time at time zone 'UTC' = '2026-05-01' as is_off
       from surveys left join survey_settings on surveyid = id order by created`,
    );
    expect(forms).toEqual([
      { timeouts: settings.timeouts, exact: true, is_off: true },
      { timeouts: null, exact: false, is_off: null },
    ]);
  });

  test('writes what differs: late and edited responses, a renamed survey, new settings', async () => {
    const platform = await start({ responses: responses(7) });
    platform.maxPage = 3;
    await platform.run();
    const versions = () => query(url, 'select userid, xmin::text from responses order by userid');
    const before = await versions();
    const unchanged =
      '1 form version: 0 new, 0 changed, 1 unchanged; 7 responses: 0 new, 0 changed, 7 unchanged';
    expect(await platform.run()).toEqual(printed(`Health & Habits: ${unchanged}`));
    expect(await versions()).toEqual(before);

    const [first, ...others] = platform.ann.responses;
    const late = row({ userid: 'late', timestamp: '2026-02-09 00:00:00+00' });
    platform.ann.responses = [row({ ...first, response: 'edited' }), ...others.slice(1), late];
    platform.ann.forms = [form({ survey_name: 'Renamed', timeouts: [] })];
    const changes =
      '1 form version: 0 new, 1 changed, 0 unchanged; 7 responses: 1 new, 1 changed, 5 unchanged; 1 stored response not in the source';
    const dryRun = await platform.run('--dry-run');
    expect(dryRun).toEqual(printed(`Renamed: ${changes}`, 'dry run: nothing was stored'));
    expect(await versions()).toEqual(before);
    expect(await platform.run()).toEqual(printed(`Renamed: ${changes}`));
    expect(await stored('distinct on (timestamp) response, survey_name')).toContainEqual({
      response: 'edited',
      survey_name: 'Renamed',
    });
  });

  test('copies the surveys of --survey, from --since on, and names one that the source does not have', async () => {
    const other = form({ id: idOf(2), survey_name: 'Other' });
    const platform = await start({ forms: [form(), other], responses: responses(6) });
    const { status, stdout } = await platform.run(
      '--survey None --survey "Health & Habits" --since 2026-03-01T00:11:43.770047Z',
    );
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^None: .*; FAILED: the source has no such survey, but .*Health & Habits.*\nHealth & Habits: 1 form.*; 4 responses: 4 new, 0 changed, 0 unchanged\n$/,
    );
    expect(await stored('responses.userid')).toEqual(
      ['1002', '1003', '1004', '1005'].map((userid) => ({ userid })),
    );
  });

  test('copies surveys of any name, and those without responses, also if another account has some under that name', async () => {
    const names = ['50%', 'a%20b', 'आयु', '%2541', 'a+b&c=d', '\u001b[2J\u202e'];
    const forms = [...names, 'empty', 'shared'].map((survey_name, index) =>
      form({ id: idOf(index), survey_name }),
    );
    const bob = {
      key: 'bob',
      forms: [form({ id: idOf(99), survey_name: 'shared' })],
      responses: [row({ surveyid: idOf(99) })],
    };
    const all = names.map((_, index) => row({ surveyid: idOf(index) }));
    const platform = await start({ forms, responses: all }, bob);
    const { status, stdout } = await platform.run();
    expect({ status, lines: stdout.split('\n').length }).toEqual({ status: 0, lines: 9 });
    for (const name of ['empty', 'shared'])
      expect(stdout).toMatch(new RegExp(`^${name}: 1 form version: 1 new.* 0 responses`, 'm'));
    expect(stdout).not.toMatch(/[^\P{C}\n]/u); // neither escapes nor marks of direction
    expect(await stored('survey_name')).toEqual(
      expect.arrayContaining(names.map((survey_name) => ({ survey_name }))),
    );
  });

  test('waits for another import of the account', async () => {
    const platform = await start();
    let running: Promise<unknown> | undefined;
    await withConnection(url, (client) =>
      inTransaction(client, async () => {
        await lockAddress(client, email);
        running = platform.run();
        await untilBlocked(url);
      }),
    );

    expect(await running).toMatchObject({ status: 0 });
    expect(await stored('response')).toHaveLength(1);
  });

  test('is completed by the next run after kill -9', async () => {
    const platform = await start({ responses: responses(8, { metadata: '{"a":1.50}' }) });
    platform.maxPage = 3;
    const { child, outcome } = platform.start();
    let pages = 0;
    platform.intercept = ({ url: path = '' }, response) => {
      if (path.includes('/responses?')) pages += 1;
      if (pages < 3) return;
      child.kill('SIGKILL');
      response.destroy();
    };
    await outcome;
    expect(await stored('responses.userid')).toHaveLength(6);

    platform.intercept = () => {};
    expect((await platform.run()).stdout).toMatch(/8 responses: 2 new, 0 changed, 6 unchanged\n$/);
  });
});

test('the files of the platform are accepted as they are, and give what its API gives', async () => {
  const metadata = '{"ad_id": "2384", "seed": 7}';
  const all = [...responses(4, { metadata, response: '' }), row({ translated_response: 'a,"b"' })];
  const platform = await start({ responses: all });
  await platform.run();
  const copied = await dump(url);
  await query(url, 'truncate users cascade');

  const file = async (endpoint: string) => {
    const address = `${platform.url}/responses/${endpoint}?survey=Health%20%26%20Habits`;
    return (await fetch(address, { headers: { Authorization: `Bearer ${KEY}` } })).text();
  };

  const files = { forms: await file('form-data'), responses: await file('csv') };
  expect(files.responses).toContain(',How are you?,,2026-03-01 00:10:43.770047+00,');
  await loadFiles(url, await newFolder(), files);
  expect(await dump(url)).toMatchObject({ responses: copied['responses'] });
});

describe('what the platform cannot return', () => {
  test('fails its survey: a question with a comma at the end of a page, one beyond Latin-1, a form version that cannot be stored; others are copied, and rounded numbers named', async () => {
    const names = ['comma', 'Latin-1', 'NUL', 'whole'];
    const forms = names.map((survey_name, index) => form({ id: idOf(index), survey_name }));
    forms[2] = form({ ...forms[2], title: 'a\0' });
    const early = '2026-02-01 00:00:00+00';
    const all = [
      row({ surveyid: idOf(0), question_ref: 'a,b' }),
      row({ surveyid: idOf(1), userid: '0', timestamp: early }),
      row({ surveyid: idOf(1), userid: '1', question_ref: 'आयु' }),
      row({ surveyid: idOf(3), metadata: '{"a":9007199254740993}' }),
    ];
    const platform = await start({ forms, responses: all });
    platform.maxPage = 1;
    expect(await platform.copyQuickly()).toEqual({
      errors: [
        expect.stringMatching(/^a page is repeated at timestamp .*43.77\+00", .* "a,b"/),
        expect.stringMatching(/^\/responses after .*userid "0".* has status 500, .*Latin-1/),
        expect.stringMatching(/Unicode escape/),
        undefined,
      ],
      notices: ['"whole": 1 number beyond 2^53, which the platform may have rounded'],
    });
    expect(await stored('survey_name')).toContainEqual({ survey_name: 'whole' });
  });

  test('goes past a question with a comma that is not the last of its page', async () => {
    const all = ['a', 'a,b', 'a,c', 'b'].map((ref) => row({ question_ref: ref }));
    const platform = await start({ responses: all });
    platform.maxPage = 3;
    expect((await platform.copyQuickly()).errors).toEqual([undefined]);
    expect(await stored('question_ref')).toHaveLength(4);
  });

  test('leaves out whole pages of rows that cannot be stored, and names 20', async () => {
    const timestamp = '2026-05-02 00:00:00+00';
    const all = [
      row({ timestamp: '2026-04-31 00:00:00+00' }),
      row(),
      row({ userid: 'index', question_ref: incompressible }),
      row({ userid: 'number', question_idx: '99999999999' }),
      row({ userid: 'text', response: 'a\0\u001b' }),
      ...responses(30, { timestamp, metadata: '{"a":"\\u0000"}' }),
    ];
    const platform = await start({ responses: all });
    platform.maxPage = 10;
    const { status, stdout, stderr } = await platform.run();
    expect(status).toBe(1);
    expect(stdout).toMatch(/; 1 response: 1 new, 0 changed, 0 unchanged; 34 responses left out\n/);
    for (const reason of [
      '2026-04-31 00:00:00+00", userid "2000921492222525", question_ref "health": timestamp: cannot be stored: date/time field',
      'surveyid, timestamp, userid, question_ref: too long for an index',
      'question_idx: "99999999999" is not a 32-bit integer',
      'response: has a NUL character',
      'metadata: cannot be stored: unsupported Unicode escape sequence: ',
    ])
      expect(stderr).toContain(reason);
    expect(stderr.match(/left out timestamp/g)).toHaveLength(20);
    expect(await stored('responses.userid')).toEqual([{ userid: row().userid }]);
  });
});

describe('a source that is not trusted', () => {
  const respond = (response: ServerResponse, body: unknown, headers = {}) =>
    response.writeHead(200, headers).end(Buffer.isBuffer(body) ? body : JSON.stringify(body));

  test('is not followed elsewhere', async () => {
    const platform = await start();
    platform.intercept = (_, response) =>
      void response.writeHead(302, { Location: '/elsewhere' }).end();
    expect(await platform.run()).toEqual(refusal('/surveys has status 302: is --from right?\n'));
    expect(platform.requests).toHaveLength(1);
  });

  const bomb = gzipSync(Buffer.alloc(80 << 20));

  test.each<[string, RegExp, (response: ServerResponse) => void, Timing?]>([
    [
      'a gzip bomb',
      /is longer than 64 MiB/,
      (response) => respond(response, bomb, { 'Content-Encoding': 'gzip' }),
    ],
    [
      'a body that never ends',
      /broke off: .* timeout/,
      (response) => {
        response.write('[');
        const more = setInterval(() => response.write('['), 20);
        response.on('close', () => clearInterval(more));
      },
      { request: 500 },
    ],
    [
      'silence',
      /broke off: nothing was sent for 0.4 s/,
      (response) => void response.write('['),
      { silence: 400 },
    ],
    ['a cut body', /broke off/, (response) => void response.write('[', () => response.destroy())],
    ['no JSON', /is not a list of objects/, (response) => respond(response, Buffer.from('<html>'))],
    ['other JSON', /is not a list of objects/, (response) => respond(response, { a: 1 })],
    [
      'the key',
      /^\/surveys contains the key: it is refused$/,
      (response) => respond(response, [{ survey_name: KEY }]),
    ],
    [
      'the key in escapes',
      /^\/surveys contains the key: it is refused$/,
      (response) => respond(response, Buffer.from(String.raw`[{"id":"\u006b${KEY.slice(1)}"}]`)),
    ],
  ])('is refused, in bounded time: %s', async (_, message, attack, timing) => {
    const platform = await start();
    platform.intercept = (_request, response) => attack(response);
    await expect(platform.open(timing).objects('/surveys')).rejects.toThrow(message);
  });

  test.runIf(process.platform === 'linux')('takes 500 MiB of memory at most', async () => {
    const text = Buffer.alloc((64 << 20) - 100, '\\n');
    const bodies = [`[${'[],'.repeat(22e6)}0]`, `[{"metadata":"${text.toString()}"}]`].map((body) =>
      Buffer.from(body),
    );
    const platform = await start();
    platform.intercept = ({ url: path = '' }, response) =>
      void respond(response, bodies[Number(/\d+$/.exec(path)?.[0])] ?? []);

    const script = `
      import { readFileSync } from 'node:fs';
      import { openSource } from '${new URL('../../tools/import/source.ts', import.meta.url).href}';
      const source = openSource('${platform.url}', 'key', new AbortController().signal);
      await source.objects('/surveys', '0').catch(({ message }) => console.log(message));
      await source.objects('/surveys', '1');
      console.log(/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status'))[1]);`;
    const { stdout } = await runProgram([process.execPath, '--input-type=module', '-e', script]);
    const [message, kilobytes] = stdout.split('\n');
    expect(message).toBe('has too many values');
    expect(Number(kilobytes) / 1024).toBeLessThan(500);
  });

  test('fails the survey with a time that decreases', async () => {
    const platform = await start();
    const page = (seconds: readonly string[]) =>
      seconds.map((at) => ({
        ...DEFAULTS,
        ...row({ timestamp: `2026-03-01T00:00:${at}Z` }),
        token: btoa(String(platform.requests.length)),
      }));
    platform.intercept = ({ url: path = '' }, response) => {
      if (path.includes('/responses?'))
        respond(response, { responses: page(path.includes('after=') ? ['01'] : ['02', '03']) });
    };
    const message = /^the time decreases at timestamp "2026-03-01T00:00:01Z"/;
    expect((await platform.copyQuickly()).errors).toEqual([expect.stringMatching(message)]);
    expect(await stored('timestamp')).toHaveLength(2); // of the first page
  });

  test('changes nothing of another account', async () => {
    const theirs = [form({ id: idOf(9), survey_name: 'Theirs' })];
    const platform = await start({ forms: theirs, responses: [row({ surveyid: idOf(9) })] });
    await platform.run();
    const before = await dump(url);
    const runAsEve = async (message: string) => {
      const { status, stdout } = await platform.run('--email eve@example.org');
      expect([status, stdout]).toEqual([1, expect.stringMatching(message)]);
    };

    // an id of theirs as a form version, and as that of a response
    platform.ann.forms = [form({ id: idOf(9), survey_name: 'Mine' })];
    await runAsEve(`^Mine: .*FAILED: .* surveyid: "${idOf(9)}" belongs to another account`);
    platform.ann.forms = [form()];
    platform.intercept = ({ url: path = '' }, response) => {
      if (path.includes('/responses?'))
        respond(response, { responses: [{ ...row({ surveyid: idOf(9) }), token: 'dG9rZW4' }] });
    };
    await runAsEve(`FAILED: the form version "${idOf(9)}" is not of this survey`);

    const after = await dump(url);
    expect(after['responses']).toEqual(before['responses']);
    expect(after['surveys']).toEqual(expect.arrayContaining(before['surveys'] ?? []));
  });

  test('is retried after 429 and 5xx, and never waits longer than 5 minutes', async () => {
    const platform = await start();
    const refusals = [
      [429, '1e9'],
      [503, '999'],
      [502, 'Fri, 31 Dec 9999 23:59:59 GMT'],
    ] as const;
    platform.intercept = (_, response) => {
      const [status, retryAfter] = refusals[platform.requests.length - 1] ?? [];
      if (status) response.writeHead(status, { 'Retry-After': retryAfter }).end();
    };

    expect((await platform.copyQuickly()).errors).toEqual([undefined]);
    expect(platform.requests).toHaveLength(7);
  });
});
