import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { importFiles } from '../../tools/import/import-files.ts';
import type { ImportSummary } from '../../tools/import/summary.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { migrate } from '../../tools/migrations.ts';
import { type FileRow, csvOf, formId, formRow, responseRow, secondFormId } from '../support/export-files.ts';
import { type Files, loadFiles, writeFiles } from '../support/load-files.ts';
import { type RunningDatabase, dump, empty, query, startDatabase } from '../support/database.ts';

const email = 'ann@example.org';

describe('import', () => {
  let running: RunningDatabase;
  let folder: string;

  beforeAll(async () => {
    running = await startDatabase();
    folder = await mkdtemp(join(tmpdir(), 'test-import-'));
  });
  afterAll(async () => {
    await running?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const load = (files?: Files): Promise<ImportSummary> => loadFiles(running.url, folder, files);

  function stored(): Promise<FileRow[]> {
    return query<FileRow>(
      running.url,
      `select parent_surveyid::text, parent_shortcode, surveyid::text, flowid::text, userid, question_ref,
         question_idx::text, question_text, response,
         to_char(timestamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as timestamp,
         metadata::text, metadata ->> 'ad_id' as ad_id, pageid, translated_response
       from responses order by responses.question_idx`,
    );
  }

  describe('loads', () => {
    beforeEach(() => empty(running.url));

    test('an empty database: account, form versions, responses', async () => {
      const summary = await load();
      expect(summary).toEqual({
        email,
        isNewAccount: true,
        forms: { new: 1, changed: 0, unchanged: 0 },
        responses: { new: 1, changed: 0, unchanged: 0 },
      });
      expect(await stored()).toEqual([responseRow({ metadata: '{"ad_id": "2384", "startTime": 1772323417086}' })]);
      const forms = await query(
        running.url,
        `select surveys.id, email, survey_name, shortcode, title, formid, metadata::text, translation_conf::text,
           created = '2026-01-05 09:00:00.123456+00' as exact
         from surveys join users on users.id = surveys.userid`,
      );
      expect(forms).toEqual([
        {
          id: formId,
          email,
          survey_name: 'Étude “1”',
          shortcode: 'start',
          title: 'start',
          formid: formId,
          metadata: '{"wave": 1}',
          translation_conf: '{}',
          exact: true,
        },
      ]);
      expect(await query(running.url, 'select shortcode, seed from responses')).toEqual([
        { shortcode: 'start', seed: null },
      ]);
    });

    test('files without rows, with a notice', async () => {
      const header = `${csvOf([responseRow()]).split('\n')[0]}\n`;
      const notices: string[] = [];
      const options = { onNotice: (notice: string) => notices.push(notice) };
      const summary = await loadFiles(running.url, folder, { responses: header }, options);
      expect(summary.responses).toEqual({ new: 0, changed: 0, unchanged: 0 });
      expect(notices).toContain(`${join(folder, 'responses.csv')}: has no rows after its header`);
    });

    test('a second time without changing anything', async () => {
      const responses = csvOf([
        responseRow(),
        responseRow({ question_idx: '1', question_ref: 'b', metadata: null, ad_id: null }),
      ]);
      await load({ responses });
      const before = await dump(running.url);
      const versions = await query(running.url, 'select xmin::text, ctid::text from responses order by question_idx');
      expect(await load({ responses })).toEqual({
        email,
        isNewAccount: false,
        forms: { new: 0, changed: 0, unchanged: 1 },
        responses: { new: 0, changed: 0, unchanged: 2 },
      });
      expect(await dump(running.url)).toEqual(before);
      expect(await query(running.url, 'select xmin::text, ctid::text from responses order by question_idx')).toEqual(
        versions,
      );
    });

    test('one time in different formats as the same response', async () => {
      await load({ responses: csvOf([responseRow({ timestamp: '2026-03-01T00:03:43.770Z' })]) });
      const summary = await load({ responses: csvOf([responseRow({ timestamp: '2026-03-01 00:03:43.77+00' })]) });
      expect(summary.responses).toEqual({ new: 0, changed: 0, unchanged: 1 });
    });

    test('every changed column over the stored one', async () => {
      const changes: FileRow[] = [
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
      const metadata = '{"ad_id": "2384", "startTime": 1772323417086}';
      const rows = changes.map((_, index) =>
        responseRow({ metadata, userid: String(index), question_idx: String(index) }),
      );
      const changed = rows.map((row, index) => ({ ...row, ...changes[index] }));
      await load({ responses: csvOf(rows) });
      await query(running.url, 'update responses set seed = 7');
      const summary = await load({ responses: csvOf(changed) });
      expect(summary.responses).toEqual({ new: 0, changed: changes.length, unchanged: 0 });
      expect(await stored()).toEqual(changed);
      expect(await query(running.url, 'select distinct seed from responses')).toEqual([{ seed: '7' }]);
    });

    test('a number written with other digits as a change', async () => {
      const files = (metadata: string): Files => ({
        forms: csvOf([formRow({ metadata })]),
        responses: csvOf([responseRow({ metadata, ad_id: null })]),
      });
      await load(files('{"n": 1.0}'));
      const changed = { new: 0, changed: 1, unchanged: 0 };
      expect(await load(files('{"n": 1.00}'))).toMatchObject({ forms: changed, responses: changed });
      expect((await stored())[0]?.['metadata']).toBe('{"n": 1.00}');
    });

    test('changed form versions, keeping columns that the file does not have', async () => {
      await load();
      await query(running.url, `update surveys set title = 'T', formid = 'F', translation_conf = '{"self": true}'`);
      const change = {
        shortcode: 'x',
        survey_name: 'Étude 2',
        survey_created: '2026-01-05 09:00:00+00',
        metadata: '{"wave": 2}',
      };
      expect((await load({ forms: csvOf([formRow(change)]) })).forms).toEqual({ new: 0, changed: 1, unchanged: 0 });
      expect(
        await query(
          running.url,
          `select shortcode, survey_name, metadata::text, title, formid, translation_conf::text from surveys`,
        ),
      ).toEqual([
        {
          shortcode: 'x',
          survey_name: 'Étude 2',
          metadata: '{"wave": 2}',
          title: 'T',
          formid: 'F',
          translation_conf: '{"self": true}',
        },
      ]);
    });

    test('responses to form versions stored before', async () => {
      await load();
      const forms = csvOf([
        formRow({ surveyid: secondFormId, version: '2', survey_created: '2026-01-06T00:00:00.000Z' }),
      ]);
      const summary = await load({ forms, responses: csvOf([responseRow({ response: 'again' })]) });
      expect(summary).toEqual({
        email,
        isNewAccount: false,
        forms: { new: 1, changed: 0, unchanged: 0 },
        responses: { new: 0, changed: 1, unchanged: 0 },
      });
    });

    test('columns in any order', async () => {
      const reversed = Object.fromEntries(Object.entries(responseRow()).toReversed());
      await load({ responses: csvOf([reversed]) });
      expect((await stored())[0]).toMatchObject({
        userid: '2000921492222525',
        response: 'Good',
        question_ref: 'health',
      });
    });

    test('CRLF line breaks, a byte order mark, and a last line without a line break', async () => {
      const responses = csvOf(
        [responseRow({ response: 'a\nb' }), responseRow({ question_idx: '1', userid: '2' })],
        '\r\n',
      );
      await load({ forms: `\uFEFF${csvOf([formRow()], '\r\n')}`, responses: `\uFEFF${responses}`.trimEnd() });
      expect((await stored()).map((row) => row['response'])).toEqual(['a\nb', 'Good']);
    });

    test('LF and CRLF line breaks in one file', async () => {
      const [header, ...records] = csvOf([responseRow(), responseRow({ question_idx: '1', userid: '2' })]).split('\n');
      await load({ responses: `${header}\r\n${records[0]}\n${records[1]}\r\n` });
      expect(await stored()).toHaveLength(2);
    });

    test('column names in quotes', async () => {
      const [header = '', ...records] = csvOf([responseRow()]).split('\n');
      await load({ responses: [header.replaceAll(/\w+/g, '"$&"'), ...records].join('\n') });
      expect(await stored()).toHaveLength(1);
    });

    test.each(['.csv', '.csv.gz'])(
      'gzip in several members, with zeros between and after them, named %s',
      async (suffix) => {
        const lines = csvOf(
          Array.from({ length: 9 }, (_, index) => responseRow({ question_idx: `${index}`, userid: `${index}` })),
        );
        const members = lines
          .match(/.*\n/g)
          ?.map((line, index) => [gzipSync(line), Buffer.alloc([0, 1, 70_000][index % 3] ?? 0)]);
        await load({ suffix, forms: gzipSync(csvOf([formRow()])), responses: Buffer.concat(members?.flat() ?? []) });
        expect(await stored()).toHaveLength(9);
      },
    );

    test('timestamps in every format', async () => {
      const timestamps = [
        ['2026-03-01T00:03:43.770Z', '2026-03-01T00:03:43.770000Z'],
        ['2026-03-01T00:03:43.770047Z', '2026-03-01T00:03:43.770047Z'],
        ['2026-03-01 00:03:43.770047+00', '2026-03-01T00:03:43.770047Z'],
        ['2026-03-01 00:03:43.7+00', '2026-03-01T00:03:43.700000Z'],
        ['2026-03-01 00:03:43+00:00', '2026-03-01T00:03:43.000000Z'],
        ['2024-02-29 23:59:59.999999Z', '2024-02-29T23:59:59.999999Z'],
        ['2026-03-01T05:33:43.000001+05:30', '2026-03-01T00:03:43.000001Z'],
        ['2026-02-28T20:03:43-04', '2026-03-01T00:03:43.000000Z'],
        ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000000Z'],
        ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
      ] as const;
      const rows = timestamps.map(([timestamp], index) =>
        responseRow({ timestamp, question_ref: String(index), question_idx: String(index) }),
      );
      await load({ responses: csvOf(rows) });
      expect((await stored()).map((row) => row['timestamp'])).toEqual(timestamps.map(([, expected]) => expected));
    });

    const controls = Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1)).join('');
    const nasty = [
      '',
      ' ',
      '"',
      '""',
      ',',
      "'",
      '\\',
      '\\.',
      '\\N',
      '\\n',
      'NULL',
      'null',
      '{}',
      '{"a"}',
      '{1,2}',
      '\t',
      '\r',
      '\n',
      '\r\n',
      '\n\r',
      ' padded ',
      'a\n\\.\nb',
      controls,
      '\u007F\u0080\u009F',
      '\u2028\u2029\u00A0',
      '\uFEFF',
      '\uFFFD\uFFFF',
      'e\u0301 é',
      'שלום \u202Eabc',
      'مرحبا',
      'नमस्ते',
      '👩‍👩‍👧 🏳️‍🌈',
      '\u{10FFFF}',
      '=1+1',
      '+1555',
      'a,"b"\r\n"c",',
      '$1',
      '%s',
      '--',
      ';drop table users',
    ];

    test('every text unchanged', async () => {
      const rows = nasty.map((text, index) =>
        responseRow({
          parent_shortcode: text,
          userid: text,
          question_ref: text,
          question_idx: String(index),
          question_text: text,
          response: text,
          metadata: JSON.stringify({ ad_id: text }),
          ad_id: text,
          pageid: text,
          translated_response: text,
        }),
      );
      await load({ responses: csvOf(rows) });
      const found = await stored();
      const texts = [
        'parent_shortcode',
        'userid',
        'question_ref',
        'question_text',
        'response',
        'ad_id',
        'pageid',
        'translated_response',
      ];
      for (const [index, text] of nasty.entries()) {
        for (const name of texts) expect([name, found[index]?.[name]]).toEqual([name, text]);
      }
      const again = await load({ responses: csvOf(rows) });
      expect(again.responses).toEqual({ new: 0, changed: 0, unchanged: nasty.length });
    });

    test('survey names and shortcodes unchanged', async () => {
      const [, ...names] = nasty; // the first is empty
      const rows = names.map((text, index) => {
        const surveyid = `3f1c6c5e-0000-4000-8000-${String(index + 1).padStart(12, '0')}`;
        return formRow({ surveyid, shortcode: text, survey_name: text });
      });
      await load({ forms: csvOf(rows) });
      const found = await query(running.url, 'select shortcode, survey_name from surveys order by id');
      expect(found).toEqual(names.map((text) => ({ shortcode: text, survey_name: text })));
    });

    test('every digit of the numbers in JSON', async () => {
      const metadata =
        '{"a":1E+400,"b":123456789012345678901234567890.10,"c":-0.0,"d":9007199254740993,"e":1e-7,"f":[1.50]}';
      await load({ responses: csvOf([responseRow({ metadata, ad_id: null })]) });
      const expected = `{"a": 1${'0'.repeat(400)}, "b": 123456789012345678901234567890.10, "c": 0.0, "d": 9007199254740993, "e": 0.0000001, "f": [1.50]}`;
      expect((await stored())[0]?.['metadata']).toBe(expected);
    });

    test('an ad_id that is a number, as metadata prints it', async () => {
      const metadata = '{"ad_id": 23848585167320457123.50}';
      await load({ responses: csvOf([responseRow({ metadata, ad_id: '23848585167320457123.50' })]) });
      expect((await stored())[0]?.['ad_id']).toBe('23848585167320457123.50');
    });

    test('responses of a megabyte', async () => {
      const texts = ['x'.repeat(1_048_576), '",\n'.repeat(350_000), '👩‍👩‍👧é'.repeat(100_000)];
      const rows = texts.map((response, index) =>
        responseRow({ response, question_idx: String(index), question_ref: `${index}` }),
      );
      await load({ responses: csvOf(rows) });
      const found = await stored();
      expect(found.map((row, index) => row['response'] === texts[index])).toEqual([true, true, true]);
    });

    test('new, changed and unchanged responses of one file', async () => {
      const rows = Array.from({ length: 6 }, (_, index) => responseRow({ userid: `${index}` }));
      await load({ responses: csvOf(rows.slice(0, 5)) });
      const changed = rows.map((row, index) =>
        index < 2 ? responseRow({ userid: `${index}`, response: 'Better' }) : row,
      );
      const summary = await load({ responses: csvOf(changed) });
      expect(summary.responses).toEqual({ new: 1, changed: 2, unchanged: 3 });
      expect(await query(running.url, 'select userid, response from responses order by userid')).toEqual(
        changed.map(({ userid, response }) => ({ userid, response })),
      );
    });

    test('nothing in a dry run, and reports what it would load', async () => {
      await load();
      const before = await dump(running.url);
      const rows = [responseRow({ response: 'Better' }), responseRow({ userid: '2' })];
      const files = { responses: csvOf(rows), forms: csvOf([formRow({ survey_name: 'x' })]) };
      expect(await loadFiles(running.url, folder, { ...files, email }, { dryRun: true })).toEqual({
        email,
        isNewAccount: false,
        forms: { new: 0, changed: 1, unchanged: 0 },
        responses: { new: 1, changed: 1, unchanged: 0 },
      });
      expect(await dump(running.url)).toEqual(before);
    });

    test.each([
      ['semicolons', ';'],
      ['tabs', '\t'],
    ])('columns separated by %s, with a notice', async (words, delimiter) => {
      const separated = (row: FileRow): string => csvOf([row], '\n', delimiter);
      const notices: string[] = [];
      const files = { forms: separated(formRow()), responses: separated(responseRow({ response: 'a;b\t"c",\nd' })) };
      await loadFiles(running.url, folder, files, { onNotice: (notice) => notices.push(notice) });
      expect((await stored())[0]).toMatchObject({ response: 'a;b\t"c",\nd', translated_response: null });
      const names = [join(folder, 'forms.csv'), join(folder, 'responses.csv')];
      expect(notices).toEqual([
        ...names.map((name) => `${name}: columns are separated by ${words}, not commas`),
        expect.stringMatching(/^applied 0001_initial\.sql, 0002/),
      ]);
    });

    test('in a transaction that waits for another import for as long as it takes', async () => {
      await load();
      await query(
        running.url,
        `create table seen (lock_timeout text);
         create function note() returns trigger language plpgsql as
           $$ begin insert into seen values (current_setting('lock_timeout')); return new; end $$;
         create trigger note before insert on responses for each row execute function note()`,
      );
      await load({ responses: csvOf([responseRow({ userid: 'new' })]) });
      expect(await query(running.url, 'select * from seen')).toEqual([{ lock_timeout: '0' }]);
    });

    test('into one account for addresses that differ in case only, also at the same time as others and as new keys', async () => {
      await migrate(running.url);
      const files = await writeFiles(folder);
      const addresses = [email, 'ANN@Example.org', 'Ann@example.org'];
      const keys = addresses.map((address) => issueKey(running.url, { email: address, createAccount: true, name: '' }));
      const imports = addresses.map((address) => importFiles(running.url, { email: address, ...files }));
      const summaries = await Promise.all(imports);
      const results = summaries.map(({ forms, responses }) => [
        forms.new,
        responses.new,
        forms.unchanged + responses.unchanged,
      ]);
      expect(results.map(String).toSorted()).toEqual(['0,0,2', '0,0,2', '1,1,0']);
      const [account, ...others] = await query(running.url, 'select email from users');
      expect(others).toEqual([]);
      for (const used of [...summaries, ...(await Promise.all(keys))]) expect(used).toMatchObject(account ?? {});
    });

    test('some versions of a form without the others', async () => {
      const rows = [
        formRow({ version: '2' }),
        formRow({ surveyid: secondFormId, version: '5', survey_created: '2026-01-06T00:00:00.000Z' }),
      ];
      expect((await load({ forms: csvOf(rows) })).forms.new).toBe(2);
    });

    test('versions of the same time whose ids are in another order, with a notice', async () => {
      const ids = [secondFormId, formId];
      const forms = csvOf(ids.map((surveyid, index) => formRow({ surveyid, version: `${index + 1}` })));
      const notices: string[] = [];
      await loadFiles(running.url, folder, { forms }, { onNotice: (notice) => notices.push(notice) });
      expect(notices[0]).toBe(
        `${join(folder, 'forms.csv')} line 2: version 1 of "start" has the same survey_created as another one: the service numbers such versions by their ids`,
      );
      expect(await query(running.url, 'select id from surveys order by id')).toEqual([
        { id: formId },
        { id: secondFormId },
      ]);
    });
  });
});
