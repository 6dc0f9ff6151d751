import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { withConnection } from '../../tools/connection.ts';
import { importFiles } from '../../tools/import/import-files.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { AWKWARD } from '../support/awkward-text.ts';
import {
  type FileRow,
  csvOf,
  formId,
  formRow,
  responseRow,
  secondFormId,
  secondFormRow,
} from '../support/export-files.ts';
import { type Files, loadFiles, writeFiles } from '../support/load-files.ts';
import { dump, query, startDatabase, untilBlocked } from '../support/database.ts';
import { printed } from '../support/expected.ts';
import { newFolder } from '../support/once-per-run.ts';
import { runHere } from '../support/run-here.ts';
import { startTool } from '../support/run-tool.ts';

const email = 'ann@example.org';

const { url } = await startDatabase();
const folder = await newFolder();
beforeEach(() => query(url, 'truncate users cascade'));

/** Imports two files. @returns its summary, and its notices without the folder */
async function load(files?: Files) {
  const notices: string[] = [];
  const onNotice = (notice: string) => notices.push(notice.replace(join(folder, '/'), ''));
  return { ...(await loadFiles(url, folder, files, { onNotice })), notices };
}

/** The stored responses as rows of a file. Metadata is as Postgres prints it. */
const stored = () =>
  query<FileRow>(
    url,
    `select parent_surveyid::text, parent_shortcode, surveyid::text, flowid::text, userid, question_ref,
       question_idx::text, question_text, response,
       to_char(timestamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as timestamp,
       metadata::text, metadata ->> 'ad_id' as ad_id, pageid, translated_response
     from responses order by responses.question_idx`,
  );

/** One response per item, in this order. */
const rowsOf = (values: readonly FileRow[]) =>
  values.map((value, index) =>
    responseRow({ userid: `${index}`, question_idx: `${index}`, ...value }),
  );

const METADATA = '{"ad_id": "2384", "startTime": 1772323417086}';

describe('npm run db:import', () => {
  const lineFor = ({ forms, responses }: { forms: string; responses: string }) =>
    `--email ${email} --forms ${forms} --responses ${responses}`;
  /** Imports two files. */
  const run = async (files: Files, option = '') => {
    const line = `${lineFor(await writeFiles(folder, files))} ${option}`;
    return runHere('import.ts', line, { DATABASE_URL: url });
  };

  test('reports what it loaded: account, form versions, responses', async () => {
    const responses = csvOf(rowsOf(Array.from({ length: 1200 }, () => ({}))));
    expect(await run({ responses })).toEqual(
      printed(
        'new account ann@example.org',
        '1 form version: 1 new, 0 changed, 0 unchanged',
        '1,200 responses: 1,200 new, 0 changed, 0 unchanged',
      ),
    );
    expect((await stored())[0]).toEqual(responseRow({ userid: '0', metadata: METADATA }));
    const [form] = await query(
      url,
      `select surveys.id, email, survey_name, shortcode, title, formid, metadata, translation_conf,
         created = '2026-01-05 09:00:00.123456+00' as exact
       from surveys join users on users.id = surveys.userid`,
    );
    const { survey_name, shortcode } = formRow();
    const made = { title: shortcode, formid: formId, translation_conf: {} };
    expect(form).toEqual({
      id: formId,
      email,
      survey_name,
      shortcode,
      ...made,
      metadata: { wave: 1 },
      exact: true,
    });
    const [row] = await query(url, 'select shortcode, seed from responses');
    expect(row).toEqual({ shortcode: 'start', seed: null });
  });

  test('writes nothing on a second run, whatever the format of times and JSON', async () => {
    const empty = { metadata: null, ad_id: null };
    await run({ responses: csvOf(rowsOf([{ timestamp: '2026-03-01T00:03:43.770Z' }, empty])) });
    const versions = () =>
      query(url, 'select xmin::text, ctid::text from responses order by question_idx');
    const before = [await dump(url), await versions()];
    const again = rowsOf([{ timestamp: '2026-03-01 00:03:43.77+00', metadata: METADATA }, empty]);
    expect(await run({ responses: csvOf(again) })).toEqual(
      printed(
        'account ann@example.org',
        '1 form version: 0 new, 0 changed, 1 unchanged',
        '2 responses: 0 new, 0 changed, 2 unchanged',
        'nothing changed: all rows were already stored',
      ),
    );
    expect([await dump(url), await versions()]).toEqual(before);
  });

  test('with --dry-run reports what it would load, and loads nothing', async () => {
    await load();
    const before = await dump(url);
    const responses = csvOf([responseRow({ response: 'Better' }), responseRow({ userid: '2' })]);
    const forms = csvOf([formRow({ survey_name: 'x' })]);
    expect(await run({ forms, responses }, '--dry-run')).toEqual(
      printed(
        'account ann@example.org',
        '1 form version: 0 new, 1 changed, 0 unchanged',
        '2 responses: 1 new, 1 changed, 0 unchanged',
        'dry run: nothing was stored',
      ),
    );
    expect(await dump(url)).toEqual(before);
  });

  test('reports meanwhile what it is doing, and how much of it is done', async () => {
    const phases = new Map<string, string>();
    await loadFiles(
      url,
      folder,
      {},
      { onProgress: (phase, progress) => phases.set(phase, progress) },
    );
    expect([...phases].map((phase) => phase.join(': '))).toEqual([
      'reading forms: 1 row, 0.0 of 0.0 MB',
      'reading responses: 1 row, 0.0 of 0.0 MB',
      ...['checking', 'writing'].map((verb) => `${verb} responses: 1 row`),
    ]);
  });

  test('resolves paths relative to the folder in which npm was called', async () => {
    await writeFiles(folder);
    const env = { DATABASE_URL: url, npm_lifecycle_event: 'db:import', INIT_CWD: folder };
    const line = lineFor({ forms: 'forms.csv', responses: 'responses.csv' });
    expect(await runHere('import.ts', line, env)).toMatchObject({ status: 0 });
  });

  test('loads nothing when it is interrupted while it waits for a statement', async () => {
    const args = lineFor(await writeFiles(folder)).split(' ');
    await withConnection(url, async (other) => {
      await other.query('begin; lock table responses in exclusive mode');
      const { child, outcome } = startTool('import.ts', args, { DATABASE_URL: url });
      await untilBlocked(url);
      child.kill('SIGINT');
      const stderr = expect.stringMatching(/\ninterrupted: nothing was loaded\n$/) as string;
      expect(await outcome).toEqual({ status: 1, stdout: '', stderr });
    });
    expect(await query(url, 'select from users')).toEqual([]);
  });
});

describe('an import stores', () => {
  test('every changed column over the stored one, and new responses, but not the shortcode and seed', async () => {
    const changes: FileRow[] = [
      {}, // unchanged
      { parent_surveyid: secondFormId },
      { parent_surveyid: null },
      { parent_shortcode: 'other' },
      { flowid: '-9223372036854775808' },
      { question_text: '' },
      { response: 'Better' },
      { metadata: '{"x": 1, "ad_id": "2384"}' },
      { metadata: null, ad_id: null },
      { pageid: '' },
      { translated_response: 'Well' },
      { question_idx: '2147483647' },
    ];
    const rows = rowsOf(changes.map(() => ({ metadata: METADATA })));
    const changed = rows.map((row, index) => ({ ...row, ...changes[index] }));
    await load({ responses: csvOf(rows) });
    await query(url, `update responses set seed = 7, shortcode = 'S'`);
    const added = responseRow({ userid: 'new', question_idx: '-1', metadata: METADATA });
    const { responses } = await load({ responses: csvOf([...changed, added]) });
    expect(responses).toEqual({ new: 1, changed: changes.length - 1, unchanged: 1 });
    expect(await stored()).toEqual([added, ...changed]);
    const kept = await query(url, 'select distinct shortcode, seed from responses order by seed');
    expect(kept).toEqual([
      { shortcode: 'S', seed: '7' },
      { shortcode: 'start', seed: null },
    ]);
  });

  test('changed form versions, keeping columns that the file does not have, and some versions without the others', async () => {
    await load();
    await query(
      url,
      `update surveys set title = 'T', formid = 'F', translation_conf = '{"self": true}'`,
    );
    const change = { shortcode: 'x', survey_name: 'É', metadata: '{"a": 2}' };
    const changed = formRow({ ...change, survey_created: '2026-01-05 09:00:00+00' });
    const second = secondFormRow({ version: '5' });
    const { forms } = await load({ forms: csvOf([changed, second]) });
    expect(forms).toEqual({ new: 1, changed: 1, unchanged: 0 });
    const unchanged = { new: 0, changed: 0, unchanged: 1 };
    const again = await load({ forms: csvOf([second]) }); // its responses are of the other one
    expect(again).toMatchObject({ forms: unchanged, responses: unchanged });
    const columns = 'shortcode, survey_name, metadata::text, title, formid, translation_conf';
    const [form] = await query(url, `select ${columns} from surveys where id = $1`, [formId]);
    expect(form).toEqual({ ...change, title: 'T', formid: 'F', translation_conf: { self: true } });
  });

  const awkward = responseRow({ response: 'a;b\t"c",\nd' });

  test.each([
    ['columns in another order', csvOf([Object.fromEntries(Object.entries(awkward).toReversed())])],
    [
      'CRLF, a byte order mark and no line break at the end',
      `\uFEFF${csvOf([awkward], '\r\n')}`.trimEnd(),
    ],
    [
      'column names in quotes',
      csvOf([awkward]).replace(/.*/, (names) => names.replaceAll(/\w+/g, '"$&"')),
    ],
  ])('a file with %s', async (_, responses) => {
    expect((await load({ responses })).notices).toEqual([]);
    expect(await stored()).toEqual([{ ...awkward, metadata: METADATA }]);
  });

  test('nothing from a file without rows, with a notice', async () => {
    expect(await load({ responses: csvOf([awkward]).replace(/\n[^]*/, '\n') })).toMatchObject({
      responses: { new: 0, changed: 0, unchanged: 0 },
      notices: ['responses.csv: has no rows after its header'],
    });
  });

  test.each(['.csv', '.csv.gz'])(
    'gzip in several members, with zeros between and after them, named %s',
    async (suffix) => {
      const lines = csvOf(rowsOf(Array.from({ length: 9 }, () => ({})))).match(/.*\n/g) ?? [];
      const members = lines.flatMap((line, index) => [
        gzipSync(line),
        Buffer.alloc([0, 1, 70_000][index % 3] ?? 0),
      ]);
      await load({
        suffix,
        forms: gzipSync(csvOf([formRow()])),
        responses: Buffer.concat(members),
      });
      expect(await stored()).toHaveLength(9);
    },
  );

  test.runIf(process.platform !== 'win32')('responses from a pipe', async () => {
    const { forms } = await writeFiles(folder);
    const responses = join(folder, 'pipe');
    execFileSync('mkfifo', [responses]);
    const written = writeFile(responses, csvOf([responseRow()]));
    await importFiles(url, { email, forms, responses });
    await written;
    expect(await stored()).toHaveLength(1);
  });

  test('timestamps in every format', async () => {
    const timestamps = [
      ['2026-03-01 00:03:43.770047+00', '2026-03-01T00:03:43.770047Z'],
      ['2026-03-01 00:03:43+00:00', '2026-03-01T00:03:43.000000Z'],
      ['2026-03-01T05:33:43.000001+05:30', '2026-03-01T00:03:43.000001Z'],
      ['2026-02-28T20:03:43-04', '2026-03-01T00:03:43.000000Z'],
      ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000000Z'],
      ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
    ] as const;
    await load({ responses: csvOf(rowsOf(timestamps.map(([timestamp]) => ({ timestamp })))) });
    expect((await stored()).map((row) => row['timestamp'])).toEqual(
      timestamps.map(([, expected]) => expected),
    );
  });

  const controls = Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1)).join(
    '',
  );
  const texts = [
    ...AWKWARD,
    controls,
    ' padded ',
    '\n\r',
    'a\n\\.\nb',
    '\\n',
    '\uFFFD\uFFFF',
    '=1+1',
    'a,"b"\r\n"c",',
  ];

  test('every text unchanged', async () => {
    const forms = texts.map((text, index) => {
      const surveyid = `3f1c6c5e-0000-4000-8000-${String(index + 1).padStart(12, '0')}`;
      return formRow({ surveyid, shortcode: text, survey_name: text });
    });
    const rows = rowsOf(
      ['', ...texts].map((text) => ({
        parent_shortcode: text,
        userid: text,
        question_ref: text,
        question_text: text,
        response: text,
        metadata: JSON.stringify({ ad_id: text }),
        ad_id: text,
        pageid: text,
        translated_response: text,
      })),
    );
    const files = { forms: csvOf(forms), responses: csvOf(rows) };
    await load(files);
    const names = await query(url, 'select shortcode, survey_name from surveys order by id');
    expect(names).toEqual(texts.map((text) => ({ shortcode: text, survey_name: text })));
    const found = await stored();
    // without the spaces of Postgres
    for (const row of found) row['metadata'] = JSON.stringify({ ad_id: row['ad_id'] });
    expect(found).toEqual(rows);
    expect((await load(files)).responses).toEqual({ new: 0, changed: 0, unchanged: rows.length });
  });

  test('every digit of the numbers in JSON, and an ad_id that is a number; other digits are a change', async () => {
    const id = '23848585167320457123.50';
    const digits = '123456789012345678901234567890.10';
    const files = (half: string): Files => {
      const metadata = `{"a":1E+400,"b":${digits},"c":-0.0,"d":9007199254740993,"e":1e-7,"f":[${half}],"ad_id":${id}}`;
      return {
        forms: csvOf([formRow({ metadata })]),
        responses: csvOf([responseRow({ metadata, ad_id: id })]),
      };
    };
    await load(files('1.5'));
    const changed = { new: 0, changed: 1, unchanged: 0 };
    expect(await load(files('1.50'))).toMatchObject({ forms: changed, responses: changed });
    expect((await stored())[0]?.['metadata']).toBe(
      `{"a": 1${'0'.repeat(400)}, "b": ${digits}, "c": 0.0, "d": 9007199254740993, "e": 0.0000001, "f": [1.50], "ad_id": ${id}}`,
    );
  });

  test('rows in a transaction that waits for another import for as long as it takes', async () => {
    await load();
    await query(
      url,
      `create table seen (lock_timeout text);
       create function note() returns trigger language plpgsql as
         $$ begin insert into seen values (current_setting('lock_timeout')); return new; end $$;
       create trigger note before insert on responses for each row execute function note()`,
    );
    await load({ responses: csvOf([responseRow({ userid: 'new' })]) });
    expect(await query(url, 'select * from seen')).toEqual([{ lock_timeout: '0' }]);
    await query(url, 'drop function note cascade');
  });

  test('one account for addresses that differ in case only, also at the same time as others and as new keys', async () => {
    const files = await writeFiles(folder);
    const addresses = [email, 'ANN@Example.org', 'Ann@example.org'];
    const keys = addresses.map((address) =>
      issueKey(url, { email: address, createAccount: true, name: '' }),
    );
    const imports = addresses.map((address) => importFiles(url, { email: address, ...files }));
    const summaries = await Promise.all(imports);
    const results = summaries.map(({ forms, responses }) => `${forms.new} ${responses.new}`);
    expect(results.toSorted()).toEqual(['0 0', '0 0', '1 1']);
    const accounts = await query(url, 'select email from users');
    expect(accounts).toHaveLength(1);
    for (const used of [...summaries, ...(await Promise.all(keys))])
      expect(used).toMatchObject(accounts[0] ?? {});
  });

  test('versions of the same time whose ids are in another order, with a notice', async () => {
    const ids = [secondFormId, formId];
    const forms = csvOf(
      ids.map((surveyid, index) => formRow({ surveyid, version: `${index + 1}` })),
    );
    expect((await load({ forms })).notices).toEqual([
      'forms.csv line 2: version 1 of "start" has the same survey_created as another one: the service numbers such versions by their ids',
    ]);
    expect(await query(url, 'select from surveys')).toHaveLength(2);
  });
});
