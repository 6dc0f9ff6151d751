import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withConnection } from '../../tools/connection.ts';
import { importFiles } from '../../tools/import/import-files.ts';
import type { ImportProgress } from '../../tools/import/load-file.ts';
import { type FileRow, csvOf, formId, formRow, responseRow, secondFormId } from '../support/export-files.ts';
import { type Files, loadFiles, writeFiles } from '../support/load-files.ts';
import { type RunningDatabase, dump, startDatabase } from '../support/database.ts';

const unknownId = '3f1c6c5e-0000-4000-8000-00000000dead';

/** A responses file whose record on line 5 has these values. The record before it is on lines 2 to 4. */
function onLine5(values: FileRow): string {
  const first = responseRow({ userid: '1', response: 'one\ntwo\r\nthree' });
  return csvOf([first, responseRow(values), responseRow({ userid: '3' })]);
}

/** A forms file whose record on line 3 has these values. */
function onLine3(values: FileRow): string {
  return csvOf([
    formRow(),
    formRow({ surveyid: secondFormId, version: '2', survey_created: '2026-02-01T00:00:00.000Z', ...values }),
  ]);
}

function withoutColumn(row: FileRow, name: string): FileRow {
  return Object.fromEntries(Object.entries(row).filter(([column]) => column !== name));
}

const gzipped = gzipSync(csvOf(Array.from({ length: 2000 }, (_, index) => responseRow({ userid: `${index * 7919}` }))));
const damaged = Buffer.from(gzipped);
damaged.fill(0xff, 5000, 5008);

/** Title, files and message. */
type Refusal = [string, Files, string];

const fields: Refusal[] = (
  [
    ['surveyid', 'abc', '"abc" is not a UUID'],
    ['surveyid', '3f1c6c5e000040008000000000000001', '"3f1c6c5e000040008000000000000001" is not a UUID'],
    ['surveyid', null, 'is empty'],
    ['surveyid', unknownId, `"${unknownId}" is neither in the forms file nor stored for this account`],
    ['parent_surveyid', 'start', '"start" is not a UUID'],
    ['parent_surveyid', '', '"" is not a UUID'],
    ['parent_shortcode', null, 'is empty (write an empty text as "")'],
    ['flowid', '9223372036854775808', '"9223372036854775808" is not a 64-bit integer'],
    ['flowid', '-9223372036854775809', '"-9223372036854775809" is not a 64-bit integer'],
    ['flowid', '1.6e12', '"1.6e12" is not a 64-bit integer'],
    ['flowid', '1600000001840.0', '"1600000001840.0" is not a 64-bit integer'],
    ['flowid', ' 1', '" 1" is not a 64-bit integer'],
    ['flowid', '0x1F', '"0x1F" is not a 64-bit integer'],
    ['flowid', '1_000', '"1_000" is not a 64-bit integer'],
    ['flowid', '1.6E+12', '"1.6E+12" is a long number that a spreadsheet has rounded'],
    ['flowid', null, 'is empty'],
    ['userid', '2.00092E+15', '"2.00092E+15" is a long number that a spreadsheet has rounded: export the file again'],
    ['userid', '2,00092E+15', '"2,00092E+15" is a long number that a spreadsheet has rounded'],
    ['question_ref', '1.2E+15', '"1.2E+15" is a long number that a spreadsheet has rounded'],
    ['pageid', '9e+14', '"9e+14" is a long number that a spreadsheet has rounded'],
    ['ad_id', '2.3848E+16', '"2.3848E+16" is a long number that a spreadsheet has rounded'],
    ['userid', null, 'is empty'],
    ['question_ref', null, 'is empty'],
    ['question_idx', '2147483648', '"2147483648" is not a 32-bit integer'],
    ['question_idx', '0x1', '"0x1" is not a 32-bit integer'],
    ['question_text', null, 'is empty'],
    ['response', null, 'is empty'],
    [
      'timestamp',
      '2026-02-29T00:00:00Z',
      '"2026-02-29T00:00:00Z" cannot be stored: date/time field value out of range',
    ],
    ['timestamp', '2026-03-01T00:03:43', '"2026-03-01T00:03:43" is not a timestamp'],
    ['timestamp', '2026-03-01T00:03:43.1234567Z', '"2026-03-01T00:03:43.1234567Z" is not a timestamp'],
    ['timestamp', 'yesterday', '"yesterday" is not a timestamp'],
    ['timestamp', '2026-03-01T00:03:43Z BC', '"2026-03-01T00:03:43Z BC" is not a timestamp'],
    ['timestamp', ' 2026-03-01T00:03:43Z', '" 2026-03-01T00:03:43Z" is not a timestamp'],
    ['timestamp', '2026-03-01T00:03:43Z\n', '"2026-03-01T00:03:43Z\\n" is not a timestamp'],
    ['timestamp', '2026-03-01T24:00:00Z', '"2026-03-01T24:00:00Z" is not a timestamp'],
    ['timestamp', '0000-03-01T00:00:00Z', '"0000-03-01T00:00:00Z" cannot be stored'],
    ['timestamp', 'infinity', '"infinity" is not a timestamp'],
    ['timestamp', null, 'is empty'],
    ['metadata', '[1]', '"[1]" is not a JSON object'],
    ['metadata', 'null', '"null" is not a JSON object'],
    ['metadata', '{a:1}', '"{a:1}" cannot be stored: invalid input syntax for type json: Token "a" is invalid'],
    ['metadata', '', '"" is not a JSON object'],
    ['ad_id', '2385', '"2385" is not the ad_id of the metadata'],
    ['ad_id', '', '"" is not the ad_id of the metadata'],
    ['ad_id', null, 'null is not the ad_id of the metadata'],
  ] as const
).map(([name, value, reason]) => [
  `${name} ${JSON.stringify(value)}`,
  { responses: onLine5({ [name]: value }) },
  `responses.csv line 5: ${name}: ${reason}`,
]);

const formFields: Refusal[] = (
  [
    ['surveyid', 'abc', '"abc" is not a UUID'],
    ['shortcode', null, 'is empty'],
    ['survey_name', null, 'is empty'],
    ['version', '0', '"0" is not a positive integer'],
    ['version', '1.0', '"1.0" is not a positive integer'],
    ['version', '1', '1 cannot follow 1, the version created before it'],
    ['survey_created', '2026-13-01T00:00:00Z', '"2026-13-01T00:00:00Z" is not a timestamp'],
    ['survey_created', null, 'is empty'],
    ['metadata', null, 'is empty'],
    ['metadata', '"x"', '"\\"x\\"" is not a JSON object'],
  ] as const
).map(([name, value, reason]) => [
  `form ${name} ${JSON.stringify(value)}`,
  { forms: onLine3({ [name]: value }) },
  `forms.csv line 3: ${name}: ${reason}`,
]);

const many = Array.from({ length: 4500 }, (_, index) => responseRow({ userid: `${index}` }));

/** Many valid rows, and one on line 3002 that only Postgres finds to be invalid. */
function onLine3002(values: FileRow): string {
  return csvOf(many.map((row, index) => (index === 3000 ? { ...row, ...values } : row)));
}

const unlikely = Array.from({ length: 700 }, (_, index) => ((index * 2654435761) >>> 0).toString(36)).join('');

const refusals: Refusal[] = [
  ...fields,
  ...formFields,
  [
    'a form version twice',
    { forms: onLine3({ surveyid: formId.toUpperCase() }) },
    'forms.csv line 3: has the same surveyid as line 2',
  ],
  [
    'a header with a missing column',
    { responses: csvOf([withoutColumn(responseRow(), 'pageid')]) },
    'responses.csv line 1: the header lacks column pageid',
  ],
  [
    'a header with an unknown column',
    { responses: csvOf([responseRow({ shortcode: 'a', token: 'b' })]) },
    'responses.csv line 1: the header has unknown columns shortcode, token',
  ],
  [
    'a header with a repeated column',
    { forms: csvOf([formRow()]).replace('shortcode,survey_name', 'shortcode,shortcode') },
    'forms.csv line 1: the header lacks column survey_name; it repeats column shortcode',
  ],
  [
    'a header with a column without a name',
    { forms: csvOf([formRow()]).replace('\n', ',\n') },
    'forms.csv line 1: the header has unknown column ""',
  ],
  [
    'the responses file in place of the forms file',
    { forms: csvOf([responseRow()]) },
    'forms.csv line 1: this looks like the responses file: did you swap --forms and --responses?',
  ],
  [
    'the forms file in place of the responses file',
    { responses: csvOf([formRow()]) },
    'responses.csv line 1: this looks like the forms file: did you swap --forms and --responses?',
  ],
  [
    'a header that is not UTF-8',
    { responses: Buffer.from(csvOf([responseRow()]), 'utf16le') },
    'responses.csv line 1: ',
  ],
  ['an empty file', { responses: '' }, 'responses.csv line 1: the file is empty'],
  [
    'a row with too few fields',
    { responses: `${onLine5({})}a,b\n` },
    'responses.csv line 7: must have 14 fields, like the header: missing data for column "surveyid"',
  ],
  [
    'a row with too many fields',
    { forms: csvOf([formRow()]).replace(/\n$/, ',x\n') },
    'forms.csv line 2: must have 6 fields, like the header: extra data after last expected column',
  ],
  ['an empty line', { responses: `${onLine5({})}\n` }, 'responses.csv line 7: is empty'],
  [
    'an empty line in a CRLF file',
    { responses: `${csvOf([responseRow()], '\r\n')}\r\n` },
    'responses.csv line 3: is empty',
  ],
  ['an end marker', { responses: `${onLine5({})}\\.\n` }, 'responses.csv line 7: must have 14 fields'],
  [
    'a row with too few fields on several lines, naming the first',
    { responses: csvOf([responseRow({ userid: '1', response: 'one\r\ntwo\nthree' })], '\r\n') + 'a,"b\nc\r\nd"\r\n' },
    'responses.csv line 5: must have 14 fields',
  ],
  ['a quote left open', { responses: `${onLine5({})}"a,b\nc\n` }, 'responses.csv line 7: a quote is never closed'],
  [
    'text after a quote',
    { responses: onLine5({ response: 'x,y' }).replace('"x,y"', '"x,y"z') },
    'responses.csv line 5: there is text after a closing quote',
  ],
  [
    'a quote inside a field without quotes',
    { responses: onLine5({ response: 'xyz' }).replace('xyz', 'x"yz') },
    'responses.csv line 5: there is a quote inside a field that does not start with one',
  ],
  [
    'a lone carriage return outside quotes',
    { responses: onLine5({ response: 'xyz' }).replace('xyz', 'x\ryz') },
    'responses.csv line 5: there is a carriage return outside quotes that is not followed by a line feed',
  ],
  ['a NUL', { responses: onLine5({ response: 'a\0b' }) }, 'responses.csv line 5: has a NUL character'],
  [
    'Latin-1',
    { responses: Buffer.from(onLine5({ response: 'caf\u00E9' }), 'latin1') },
    'responses.csv line 5: is not valid UTF-8',
  ],
  [
    'Latin-1 in a record of several lines, naming the line with the bad byte',
    { responses: Buffer.from(onLine5({ response: 'one\ntwo \u00E9' }), 'latin1') },
    'responses.csv line 6: is not valid UTF-8',
  ],
  [
    'a surrogate in UTF-8',
    { responses: Buffer.from(onLine5({ response: 'a\u00ED\u00A0\u0080' }), 'latin1') },
    'responses.csv line 5: is not valid UTF-8',
  ],
  [
    'a truncated character at the end',
    { responses: Buffer.concat([Buffer.from(onLine5({})), Buffer.from([0xf0, 0x9f])]) },
    'responses.csv line 7: is not valid UTF-8',
  ],
  [
    'a response twice',
    { responses: onLine5({ userid: '1', response: 'other' }) },
    'responses.csv line 5: has the same surveyid, timestamp, userid, question_ref as line 2',
  ],
  [
    'a response twice with the same values',
    { responses: csvOf([responseRow(), responseRow()]) },
    'responses.csv line 3: has the same surveyid, timestamp, userid, question_ref as line 2',
  ],
  [
    'a response twice, its time written differently',
    { responses: onLine5({ userid: '1', timestamp: '2026-03-01 01:03:43.770047+01' }) },
    'responses.csv line 5: has the same surveyid, timestamp, userid, question_ref as line 2',
  ],
  [
    'a response twice, far apart',
    { responses: csvOf([...many, responseRow({ userid: '7' })]) },
    'responses.csv line 4502: has the same surveyid, timestamp, userid, question_ref as line 9',
  ],
  [
    'a stored response twice',
    { responses: csvOf([...many, responseRow({ userid: 'stored' }), responseRow({ userid: 'stored' })]) },
    'responses.csv line 4503: has the same surveyid, timestamp, userid, question_ref as line 4502',
  ],
  [
    'a NUL in JSON',
    { responses: onLine3002({ metadata: '{"a":"\\u0000"}', ad_id: null }) },
    'responses.csv line 3002: metadata: "{\\"a\\":\\"\\\\u0000\\"}" cannot be stored: unsupported Unicode escape sequence',
  ],
  [
    'half a surrogate pair in JSON',
    { responses: onLine3002({ metadata: '{"a":"\\ud83d"}', ad_id: null }) },
    'responses.csv line 3002: metadata: "{\\"a\\":\\"\\\\ud83d\\"}" cannot be stored: invalid input syntax for type json',
  ],
  [
    'a number that numeric cannot hold',
    { responses: onLine3002({ metadata: '{"a":1e200000}', ad_id: null }) },
    'responses.csv line 3002: metadata: "{\\"a\\":1e200000}" cannot be stored: value overflows numeric format',
  ],
  [
    'a key too long for the index',
    { responses: onLine3002({ question_ref: unlikely }) },
    'responses.csv line 3002: surveyid, timestamp, userid, question_ref: too long for an index',
  ],
  [
    'a time before the year 1 in UTC',
    { responses: onLine3002({ timestamp: '0001-01-01T00:00:00+05' }) },
    'responses.csv line 3002: timestamp: is not in the years 1 to 9999 in UTC',
  ],
  [
    'a time after the year 9999 in UTC',
    { responses: onLine3002({ timestamp: '9999-12-31T23:59:59-05' }) },
    'responses.csv line 3002: timestamp: is not in the years 1 to 9999 in UTC',
  ],
  [
    "a NUL in a form's JSON",
    { forms: onLine3({ metadata: '{"a":"\\u0000"}' }) },
    'forms.csv line 3: metadata: "{\\"a\\":\\"\\\\u0000\\"}" cannot be stored: unsupported Unicode escape sequence',
  ],
  [
    'a file that is only named .gz',
    { suffix: '.csv.gz', forms: gzipSync(csvOf([formRow()])) },
    'responses.csv.gz: is named .gz, but is not a gzip file',
  ],
  ['an empty file named .gz', { suffix: '.csv.gz', forms: '' }, 'forms.csv.gz: is named .gz, but is not a gzip file'],
  [
    'a truncated gzip file',
    { responses: gzipped.subarray(0, gzipped.length - 9) },
    'responses.csv: the gzip file is cut off',
  ],
  [
    'a gzip file truncated to its first bytes',
    { responses: gzipped.subarray(0, 2) },
    'responses.csv: the gzip file is cut off',
  ],
  ['a damaged gzip file', { responses: damaged }, 'responses.csv: the gzip file is damaged'],
  [
    'a gzip file with trailing bytes',
    { responses: Buffer.concat([gzipped, Buffer.from('more')]) },
    'responses.csv: the gzip file is damaged',
  ],
];

describe('import refuses', () => {
  let running: RunningDatabase;
  let folder: string;
  let before: Record<string, string[]>;

  beforeAll(async () => {
    running = await startDatabase();
    folder = await mkdtemp(join(tmpdir(), 'test-import-'));
    // Another account's data, with ids that the files do not contain.
    const forms = csvOf([formRow({ surveyid: unknownId })]);
    await loadFiles(running.url, folder, {
      email: 'other@example.org',
      forms,
      responses: csvOf([responseRow({ surveyid: unknownId })]),
    });
    before = await dump(running.url);
  });
  afterAll(async () => {
    await running?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(refusals)('%s', async (_, files, message) => {
    await expect(loadFiles(running.url, folder, files)).rejects.toThrow(folder + sep + message);
    expect(await dump(running.url)).toEqual(before);
  });

  test('a form version of another account', async () => {
    const message = `forms.csv line 3: surveyid: "${unknownId}" belongs to another account`;
    const forms = onLine3({ surveyid: unknownId });
    await expect(loadFiles(running.url, folder, { forms })).rejects.toThrow(message);
    expect(await dump(running.url)).toEqual(before);
  });

  test('versions that contradict the creation times', async () => {
    const forms = csvOf([
      formRow({ survey_created: '2026-02-02T00:00:00Z', version: '1' }),
      formRow({ surveyid: secondFormId, survey_created: '2026-02-01T00:00:00Z', version: '2' }),
    ]);
    await expect(loadFiles(running.url, folder, { forms })).rejects.toThrow(
      'forms.csv line 2: version: 1 cannot follow 2, the version created before it',
    );
    expect(await dump(running.url)).toEqual(before);
  });

  test.each(['forms', 'responses'] as const)('a missing %s file', async (which) => {
    const paths = { ...(await writeFiles(folder)), [which]: join(folder, 'nowhere.csv') };
    await expect(importFiles(running.url, { email: 'ann@example.org', ...paths })).rejects.toThrow(
      `${join(folder, 'nowhere.csv')}: there is no such file`,
    );
    expect(await dump(running.url)).toEqual(before);
  });

  test('a directory', async () => {
    const paths = { ...(await writeFiles(folder)), responses: folder };
    await expect(importFiles(running.url, { email: 'ann@example.org', ...paths })).rejects.toThrow(
      `${folder}: is a directory`,
    );
    expect(await dump(running.url)).toEqual(before);
  });

  test('to continue once it is aborted', async () => {
    const paths = await writeFiles(folder, { responses: csvOf(many) });
    const controller = new AbortController();
    const reason = new Error('enough');
    const phases = new Set<string>();
    const onProgress = ({ phase }: ImportProgress): void => {
      phases.add(phase);
      if (phase === 'checking responses') controller.abort(reason);
    };
    const options = { signal: controller.signal, onProgress };
    await expect(importFiles(running.url, { email: 'ann@example.org', ...paths }, options)).rejects.toThrow(reason);
    expect([...phases]).toEqual(['reading forms', 'checking forms', 'reading responses', 'checking responses']);
    expect(await dump(running.url)).toEqual(before);
  });

  test('to wait for a statement in progress once it is aborted', async () => {
    const paths = await writeFiles(folder);
    const controller = new AbortController();
    const reason = new Error('enough');
    const onProgress = ({ phase }: ImportProgress): void => {
      if (phase === 'writing responses') setTimeout(() => controller.abort(reason), 500);
    };
    const options = { signal: controller.signal, onProgress };
    await withConnection(running.url, async (other) => {
      await other.query('begin');
      await other.query('lock table responses in exclusive mode'); // the import waits for this
      await expect(importFiles(running.url, { email: 'ann@example.org', ...paths }, options)).rejects.toThrow(reason);
      await other.query('rollback');
    });
    expect(await dump(running.url)).toEqual(before);
  });
});
