import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
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

/** A platform with an account, and a database to copy it into. */
async function start(account: Partial<PlatformAccount> = {}, ...others: PlatformAccount[]) {
  const stack = new AsyncDisposableStack();
  const ann = { key: KEY, forms: [form()], responses: [row()], ...account };
  const platform = stack.use(await startPlatform([ann, ...others]));
  const { url, stop } = await startDatabase();
  stack.defer(stop);
  const line = `--from ${platform.url} --email ${email}`;
  const env = { DATABASE_URL: url, SURVEY_SOURCE_KEY: KEY };
  return {
    ann,
    platform,
    url,
    /** Copies without the command, with short pauses. */
    copyQuickly: async (timing: Parameters<typeof openSource>[3] = {}) => {
      const notices: string[] = [];
      const { signal } = new AbortController();
      const source = openSource(platform.url, KEY, signal, { pause: 1, ...timing });
      const copies = await copySurveys(
        url,
        source,
        { email },
        { dryRun: false, signal, onProgress() {}, onNotice: (notice) => notices.push(notice) },
      );
      return { errors: copies.map(({ error }) => error), notices };
    },
    /** @returns what the command prints */
    run: async (more = '') => runHere('import.ts', `${line} ${more}`, env),
    /** Starts the command in a separate process. */
    start: () => startTool('import.ts', line.split(' '), env),
    stored: (columns: string) =>
      query(
        url,
        `select ${columns} from responses join surveys on surveys.id = surveyid
         order by timestamp, responses.userid, question_ref`,
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
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
    await using copy = await start({ forms: [form(settings), second], responses: all });
    expect(await copy.run()).toEqual(
      printed(
        'Health & Habits: 2 form versions: 2 new, 0 changed, 0 unchanged; 4 responses: 4 new, 0 changed, 0 unchanged',
      ),
    );
    const columns = `to_char(timestamp at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as time, flowid::text, seed::text`;
    const plain = { flowid: '1', seed: null };
    expect(await copy.stored(columns)).toEqual([
      { time: '2026-03-01 00:03:43.770000', flowid: '1', seed: '2960024492' },
      { time: '2026-03-01 00:03:43.770047', ...plain },
      { time: '2026-03-01 00:03:44.000000', flowid: '9007199254740993', seed: null },
      { time: '2090-01-01 00:00:00.000001', ...plain },
    ]);
    const forms = await query(
      copy.url,
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
    await using copy = await start({ responses: responses(7) });
    copy.platform.maxPage = 3;
    await copy.run();
    const versions = () =>
      query(copy.url, 'select userid, xmin::text from responses order by userid');
    const before = await versions();
    const unchanged =
      '1 form version: 0 new, 0 changed, 1 unchanged; 7 responses: 0 new, 0 changed, 7 unchanged';
    expect(await copy.run()).toEqual(printed(`Health & Habits: ${unchanged}`));
    expect(await versions()).toEqual(before);

    const [first, ...others] = copy.ann.responses;
    const late = row({ userid: 'late', timestamp: '2026-02-09 00:00:00+00' });
    copy.ann.responses = [row({ ...first, response: 'edited' }), ...others.slice(1), late];
    copy.ann.forms = [form({ survey_name: 'Renamed', timeouts: [] })];
    const changes =
      '1 form version: 0 new, 1 changed, 0 unchanged; 7 responses: 1 new, 1 changed, 5 unchanged; 1 stored response not in the source';
    const dryRun = await copy.run('--dry-run');
    expect(dryRun).toEqual(printed(`Renamed: ${changes}`, 'dry run: nothing was stored'));
    expect(await versions()).toEqual(before);
    expect(await copy.run()).toEqual(printed(`Renamed: ${changes}`));
    expect(await copy.stored('distinct on (timestamp) response, survey_name')).toContainEqual({
      response: 'edited',
      survey_name: 'Renamed',
    });
  });

  test('copies the surveys of --survey, from --since on', async () => {
    const other = form({ id: idOf(2), survey_name: 'Other' });
    await using copy = await start({ forms: [form(), other], responses: responses(6) });
    const { stdout } = await copy.run(
      '--survey "Health & Habits" --since 2026-03-01T00:11:43.770047Z',
    );
    expect(stdout).toMatch(
      /^Health & Habits: 1 form.*; 4 responses: 4 new, 0 changed, 0 unchanged\n$/,
    );
    expect(await copy.stored('responses.userid')).toEqual(
      ['1002', '1003', '1004', '1005'].map((userid) => ({ userid })),
    );
  });

  test.each(['50%', 'a%20b', 'आयु', '%2541', 'a+b&c=d', '\u001b[2J\u202e'])(
    'copies a survey named %j, and one without responses',
    async (name) => {
      const forms = [form({ survey_name: name }), form({ id: idOf(2), survey_name: 'empty' })];
      await using copy = await start({ forms });
      const { status, stdout } = await copy.run();
      expect({ status, lines: stdout.split('\n').length }).toEqual({ status: 0, lines: 3 });
      expect(stdout).toMatch(/^empty: 1 form version: 1 new.* 0 responses/m);
      expect(stdout).not.toMatch(/[^\P{C}\n]/u); // neither escapes nor marks of direction
      expect(await copy.stored('survey_name')).toEqual([{ survey_name: name }]);
    },
  );

  test('a name that another account uses too is an empty survey without an error', async () => {
    const bob = {
      key: 'bob',
      forms: [form({ id: idOf(9) })],
      responses: [row({ surveyid: idOf(9) })],
    };
    await using copy = await start({ responses: [] }, bob);
    expect(await copy.run()).toEqual(
      printed(
        'Health & Habits: 1 form version: 1 new, 0 changed, 0 unchanged; 0 responses: 0 new, 0 changed, 0 unchanged',
      ),
    );
  });

  test('waits for another import of the account', async () => {
    await using copy = await start();
    const { outcome } = await withConnection(copy.url, (client) =>
      inTransaction(client, async () => {
        await lockAddress(client, email);
        const started = copy.start();
        await untilBlocked(copy.url);
        return started;
      }),
    );

    expect(await outcome).toMatchObject({ status: 0 });
    expect(await copy.stored('response')).toHaveLength(1);
  });

  test.each([
    ['--from http://127.0.0.1:1 --forms f', /'--from <url>' cannot be used with .*--forms/],
    ['--forms f --responses r --survey S', /required option '--from <url>' not specified/],
    [
      '--from http://127.0.0.1:1 --since yesterday',
      /'--since <time>' argument 'yesterday' is invalid/,
    ],
    ['--from http://127.0.0.1:1', /^SURVEY_SOURCE_KEY must be set/],
  ])('refuses %s', async (line, message) => {
    const env = { SURVEY_SOURCE_KEY: ' ' };
    expect(await runHere('import.ts', `--email ${email} ${line}`, env)).toEqual(refusal(message));
  });

  test('names a survey that the source does not have, and copies the others', async () => {
    await using copy = await start();
    const { status, stdout } = await copy.run('--survey None --survey "Health & Habits"');
    expect({ status, stdout }).toEqual({
      status: 1,
      stdout: expect.stringMatching(
        /^None: .*; FAILED: the source has no such survey, but .*Health & Habits.*\nHealth & Habits: 1 .* 1 new.*\n$/,
      ),
    });
  });

  test('is completed by the next run after kill -9 at any page', async () => {
    await using copy = await start({ responses: responses(8, { metadata: '{"a":1.50}' }) });
    copy.platform.maxPage = 3;
    for (const page of [1, 2, 3]) {
      const { child, outcome } = copy.start();
      let pages = 0;
      copy.platform.intercept = ({ url = '' }) => {
        if (!url.includes('/responses?')) return false;
        pages += 1;
        if (pages > page) child.kill('SIGKILL');
        return pages > page;
      };

      await outcome;
      expect(await copy.stored('responses.userid')).toHaveLength(Math.min(3 * page, 8));
    }

    copy.platform.intercept = () => false;
    expect((await copy.run()).stdout).toMatch(/8 responses: 0 new, 0 changed, 8 unchanged\n$/);
  });
});

test('the files of the platform are accepted as they are, and give what its API gives', async () => {
  const metadata = '{"ad_id": "2384", "seed": 7}';
  const all = [...responses(4, { metadata, response: '' }), row({ translated_response: 'a,"b"' })];
  await using copy = await start({ responses: all });
  await copy.run();
  const stored = await dump(copy.url);
  await query(copy.url, 'truncate users cascade');

  const file = async (endpoint: string) => {
    const url = `${copy.platform.url}/responses/${endpoint}?survey=Health%20%26%20Habits`;
    return (await fetch(url, { headers: { Authorization: `Bearer ${KEY}` } })).text();
  };

  const files = { forms: await file('form-data'), responses: await file('csv') };
  expect(files.responses).toContain(',How are you?,,2026-03-01 00:10:43.770047+00,');
  await loadFiles(copy.url, await newFolder(), files);
  expect(await dump(copy.url)).toMatchObject({ responses: stored['responses'] });
});

describe('what the platform cannot return', () => {
  const forms = [form(), form({ id: idOf(2), survey_name: 'Other' })];
  const other = row({ surveyid: idOf(2) });

  test.each([
    ['a,b', /^a page is repeated at timestamp .*43.77\+00", userid "1", question_ref "a,b"/],
    ['आयु', /^\/responses after .*userid "0".* has status 500, .*Latin-1/],
  ])('fails the survey at the question %j, and copies the others', async (ref, error) => {
    const all = [row({ userid: '0', timestamp: '2026-02-01 00:00:00+00' })];
    all.push(row({ userid: '1', question_ref: ref }), other);
    await using copy = await start({ forms, responses: all });
    copy.platform.maxPage = 1;
    const { errors } = await copy.copyQuickly();
    expect(errors).toEqual([expect.stringMatching(error), undefined]);
    expect(await copy.stored('survey_name')).toContainEqual({ survey_name: 'Other' });
  });

  test('goes past a question with a comma that is not the last of its page', async () => {
    const all = ['a', 'a,b', 'a,c', 'b'].map((ref) => row({ question_ref: ref }));
    await using copy = await start({ responses: all });
    copy.platform.maxPage = 3;
    expect((await copy.copyQuickly()).errors).toEqual([undefined]);
    expect(await copy.stored('question_ref')).toHaveLength(4);
  });

  test('names numbers that it rounds', async () => {
    await using copy = await start({
      responses: [row({ metadata: '{"a":9007199254740993}' })],
    });
    expect((await copy.copyQuickly()).notices).toEqual([
      '"Health & Habits": 1 number beyond 2^53, which the platform may have rounded',
    ]);
  });

  test('fails the survey whose form versions cannot be stored, and copies the others', async () => {
    const bad = form({ title: 'a\0' });
    await using copy = await start({ forms: [bad, form({ id: idOf(2), survey_name: 'Other' })] });
    const { errors } = await copy.copyQuickly();
    expect(errors).toEqual([expect.stringMatching(/Unicode escape/), undefined]);
  });

  test('leaves out whole pages of rows that cannot be stored, and names 20', async () => {
    const timestamp = '2026-05-02 00:00:00+00';
    const all = [
      row({ timestamp: '2026-04-31 00:00:00+00' }),
      row(),
      row({ userid: 'index', question_ref: incompressible }),
      row({ userid: 'number', question_idx: '99999999999' }),
      row({ userid: 'text', response: 'a\0\u001b' }),
      ...responses(5_000, { timestamp, metadata: '{"a":"\\u0000"}' }),
    ];
    await using copy = await start({ responses: all });
    const { status, stdout, stderr } = await copy.run();
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /; 1 response: 1 new, 0 changed, 0 unchanged; 5,004 responses left out\n/,
    );
    for (const reason of [
      '2026-04-31 00:00:00+00", userid "2000921492222525", question_ref "health": timestamp: cannot be stored: date/time field',
      'surveyid, timestamp, userid, question_ref: too long for an index',
      'question_idx: "99999999999" is not a 32-bit integer',
      'response: has a NUL character',
      'metadata: cannot be stored: unsupported Unicode escape sequence: ',
    ])
      expect(stderr).toContain(reason);
    expect(stderr.match(/left out timestamp/g)).toHaveLength(20);
    expect(await copy.stored('responses.userid')).toEqual([{ userid: row().userid }]);
  });
});

describe('a source that is not trusted', () => {
  const respond = (response: ServerResponse, body: unknown, headers = {}) =>
    response.writeHead(200, headers).end(Buffer.isBuffer(body) ? body : JSON.stringify(body));

  test.each([
    ['http://example.org', /^--from: expected an address/],
    ['https://u:p@example.org', /^--from: expected an address .* no user name/],
    ['ftp://localhost', /^--from: expected an address/],
  ])('is refused at %s', (url, message) => {
    expect(() => openSource(url, KEY, new AbortController().signal)).toThrow(message);
  });

  test('is not followed elsewhere', async () => {
    await using elsewhere = await startPlatform([{ key: KEY, forms: [], responses: [] }]);
    await using copy = await start();
    copy.platform.intercept = (_, response) => {
      response.writeHead(302, { Location: `${elsewhere.url}/surveys` }).end();
      return true;
    };

    expect(await copy.run()).toEqual(refusal('/surveys has status 302: is --from right?\n'));
    expect(elsewhere.requests).toEqual([]);
  });

  const bomb = gzipSync(Buffer.alloc(80 << 20));

  test.each<[string, (response: ServerResponse) => void, RegExp]>([
    [
      'a gzip bomb',
      (response) => respond(response, bomb, { 'Content-Encoding': 'gzip' }),
      /is longer than 64 MiB/,
    ],
    [
      'a body that never ends',
      (response) => {
        const more = setInterval(() => response.write('['), 20);
        response.on('close', () => clearInterval(more));
      },
      /broke off: .* timeout/,
    ],
    ['silence', (response) => void response.write('['), /broke off: nothing was sent for 0.4 s/],
    ['a cut body', (response) => void response.write('[', () => response.destroy()), /broke off/],
    ['no JSON', (response) => respond(response, Buffer.from('<html>')), /is not a list of objects/],
    ['other JSON', (response) => respond(response, { a: 1 }), /is not a list of objects/],
  ])('fails the survey with %s, in bounded time', async (what, attack, message) => {
    await using copy = await start();
    copy.platform.intercept = ({ url = '' }, response) => {
      const isPage = url.includes('/responses?');
      if (isPage) attack(response);
      return isPage;
    };

    const timing = { bomb: {}, silence: { silence: 400 } }[what.split(' ').at(-1) ?? ''] ?? {
      request: 500,
    };
    const { errors } = await copy.copyQuickly(timing);
    expect(errors).toEqual([expect.stringMatching(message)]);
  });

  test.runIf(process.platform === 'linux')('takes 500 MiB of memory at most', async () => {
    const text = Buffer.alloc((64 << 20) - 100, '\\n');
    const bodies = [`[${'[],'.repeat(22e6)}0]`, `[{"metadata":"${text.toString()}"}]`].map((body) =>
      Buffer.from(body),
    );
    await using copy = await start();
    copy.platform.intercept = ({ url = '' }, response) => {
      respond(response, bodies[Number(/\d+$/.exec(url)?.[0])] ?? []);
      return true;
    };

    const script = `
      import { readFileSync } from 'node:fs';
      import { openSource } from '${new URL('../../tools/import/source.ts', import.meta.url).href}';
      const source = openSource('${copy.platform.url}', 'key', new AbortController().signal);
      await source.objects('/surveys', '0').catch(({ message }) => console.log(message));
      await source.objects('/surveys', '1');
      console.log(/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status'))[1]);`;
    const { stdout } = await runProgram([process.execPath, '--input-type=module', '-e', script]);
    const [message, kilobytes] = stdout.split('\n');
    expect(message).toBe('has too many values');
    expect(Number(kilobytes) / 1024).toBeLessThan(500);
  });

  test('fails the survey with a time that decreases', async () => {
    await using copy = await start();
    const page = (seconds: readonly string[]) =>
      seconds.map((at) => ({
        ...DEFAULTS,
        ...row({ timestamp: `2026-03-01T00:00:${at}Z` }),
        token: btoa(String(copy.platform.requests.length)),
      }));
    copy.platform.intercept = ({ url = '' }, sent) => {
      if (!url.includes('/responses?')) return false;
      respond(sent, { responses: page(url.includes('after=') ? ['01'] : ['02', '03']) });
      return true;
    };
    const message = /^the time decreases at timestamp "2026-03-01T00:00:01Z"/;
    expect((await copy.copyQuickly()).errors).toEqual([expect.stringMatching(message)]);
    expect(await copy.stored('timestamp')).toHaveLength(2); // of the first page
  });

  test('changes nothing of another account', async () => {
    const theirs = [form({ id: idOf(9), survey_name: 'Theirs' })];
    await using bob = await start({ forms: theirs, responses: [row({ surveyid: idOf(9) })] });
    await bob.run();
    const before = await dump(bob.url);
    // an id of theirs as a form version, and as that of a response
    bob.ann.forms = [form({ id: idOf(9), survey_name: 'Mine' })];
    const stolen = await bob.run('--email eve@example.org');
    expect([stolen.status, stolen.stdout]).toEqual([
      1,
      expect.stringMatching(
        `^Mine: .*FAILED: .* surveyid: "${idOf(9)}" belongs to another account`,
      ),
    ]);
    bob.ann.forms = [form()];
    bob.platform.intercept = ({ url = '' }, sent) => {
      if (!url.includes('/responses?')) return false;
      respond(sent, { responses: [{ ...row({ surveyid: idOf(9) }), token: 'dG9rZW4' }] });
      return true;
    };

    const mixed = await bob.run('--email eve@example.org');
    expect([mixed.status, mixed.stdout]).toEqual([
      1,
      expect.stringMatching(`FAILED: the form version "${idOf(9)}" is not of this survey`),
    ]);
    const after = await dump(bob.url);
    expect(after['responses']).toEqual(before['responses']);
    expect(after['surveys']).toEqual(expect.arrayContaining(before['surveys'] ?? []));
  });

  test('is retried after 429 and 5xx, and never waits longer than 5 minutes', async () => {
    await using copy = await start();
    let refused = 0;
    copy.platform.intercept = (_, sent) => {
      refused += 1;
      if (refused > 3) return false;
      sent
        .writeHead([429, 503, 502][refused - 1] ?? 500, {
          'Retry-After': ['1e9', '999', 'Fri, 31 Dec 9999 23:59:59 GMT'][refused - 1],
        })
        .end();
      return true;
    };

    expect((await copy.copyQuickly()).errors).toEqual([undefined]);
    expect(refused).toBe(7);
  });

  test.each([KEY, KEY.replace('k', '\\u006b')])('cannot print the key, as %j', async (text) => {
    await using copy = await start();
    copy.platform.intercept = (_, sent) => {
      sent.writeHead(200, KEY).end(`[{"id":"1","survey_name":"${text}"}]`);
      return true;
    };

    const echoed = await copy.run();
    expect(echoed).toMatchObject({ status: 1, stdout: '' });
    expect(echoed.stderr).toBe('/surveys contains the key: it is refused\n');
  });
});
