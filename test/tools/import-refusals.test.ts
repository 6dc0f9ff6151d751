import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
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
    ['surveyid', unknownId, `"${unknownId}" is neither in the forms file nor stored for this account`],
    ['timestamp', '2026-02-29T00:00:00Z', 'cannot be stored: date/time field value out of range: "2026-02-29'],
    ['timestamp', '0000-03-01T00:00:00Z', 'cannot be stored: date/time field value out of range: "0000-03'],
    ['metadata', '{a:1}', 'cannot be stored: invalid input syntax for type json: Token "a" is invalid'],
    ['ad_id', '2385', '"2385" is not the ad_id of the metadata'],
    ['ad_id', '', '"" is not the ad_id of the metadata'],
    ['ad_id', null, 'null is not the ad_id of the metadata'],
  ] as const
).map(([name, value, reason]) => [
  `${name} ${JSON.stringify(value)}`,
  { responses: onLine5({ [name]: value }) },
  `responses.csv line 5: ${name}: ${reason}`,
]);

const many = Array.from({ length: 4500 }, (_, index) => responseRow({ userid: `${index}` }));

/** Many valid rows, and one on line 3002 that only Postgres finds to be invalid. */
function onLine3002(values: FileRow): string {
  return csvOf(many.map((row, index) => (index === 3000 ? { ...row, ...values } : row)));
}

/** The beginning of a ZIP file whose first entry has this name and content. */
const zipOf = (entry: string): Buffer => Buffer.from(`PK\u0003\u0004${'\0'.repeat(26)}${entry}`);
const workbook = zipOf('[Content_Types].xml');
const openDocument = zipOf('mimetypeapplication/vnd.oasis.opendocument.spreadsheet');
const utf16 = Buffer.from(`\uFEFF${onLine5({})}`, 'utf16le');

/** Files that are not CSV, which have no lines. */
const otherFiles: Refusal[] = (
  [
    ['an Excel workbook', workbook, 'is an Excel workbook, not CSV: export the survey as CSV'],
    ['a gzipped Excel workbook', gzipSync(workbook), 'is an Excel workbook, not CSV: export the survey as CSV'],
    ['an old Excel workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'is an Excel workbook, not CSV'],
    ['an OpenDocument spreadsheet', openDocument, 'is an OpenDocument file, not CSV'],
    ['a ZIP file', zipOf('responses.csv'), 'is a ZIP archive, not CSV: unpack it'],
    ['a file gzipped twice', gzipSync(gzipSync(onLine5({}))), 'is compressed twice with gzip: decompress it once'],
    ['a zstd file', zstdCompressSync(onLine5({})), 'is compressed, but not with gzip: decompress it first'],
    ['UTF-16', utf16, 'is UTF-16, not UTF-8: export the file again'],
    ['UTF-16, big-endian', Buffer.from(utf16).swap16(), 'is UTF-16, not UTF-8: export the file again'],
    ['UTF-16 without a mark', utf16.subarray(2), 'is UTF-16, not UTF-8: export the file again'],
    ['an HTML page', '\n<!DOCTYPE html>\n<title>404</title>', 'is HTML or XML, not CSV, perhaps the error page'],
    [
      'the body of an error',
      '{"error":{"message":"Invalid Token."}}',
      'is an error of the service, not CSV: "Invalid Token."',
    ],
    ['JSON', '\uFEFF{"responses":[]}', 'is JSON, not CSV: export the file as CSV'],
    ['NDJSON', '{"userid":"1"}\n{"userid":"2"}\n', 'is JSON, not CSV: export the file as CSV'],
  ] as const
).map(([title, responses, message]) => [title, { responses }, `responses.csv: ${message}`]);

const unlikely = Array.from({ length: 700 }, (_, index) => ((index * 2654435761) >>> 0).toString(36)).join('');

const refusals: Refusal[] = [
  ...fields,
  ...otherFiles,
  [
    'a form version of 0',
    { forms: onLine3({ version: '0' }) },
    'forms.csv line 3: version: "0" is not a positive integer',
  ],
  [
    'a form version that follows one of the same number',
    { forms: onLine3({ version: '1' }) },
    'forms.csv line 3: version: 1 cannot follow 1, the version created before it',
  ],
  [
    'a form version twice',
    { forms: onLine3({ surveyid: formId.toUpperCase() }) },
    'forms.csv line 3: has the same surveyid as an earlier line',
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
    'a header without the columns',
    { responses: 'version https://git-lfs.github.com/spec/v1\n' },
    'responses.csv line 1: must name the columns of /responses/csv, separated by commas, but is "version https://git-lfs',
  ],
  [
    'a header in capitals',
    { forms: csvOf([formRow()]).toUpperCase() },
    'forms.csv line 1: must name the columns of /responses/form-data, separated by commas, but is "SURVEYID,SHORTCODE,',
  ],
  ['a line for Excel', { responses: `sep=,\n${onLine5({})}` }, 'responses.csv line 1: remove this line'],
  [
    'a wide file',
    { responses: 'userid,parent_surveyid,parent_shortcode,flowid,started,ended,attempts,metadata,start.health\n' },
    'responses.csv line 1: this looks like a file with layout=wide: export /responses/csv instead',
  ],
  [
    'a codebook',
    { forms: 'column,shortcode,question_ref,question_idx,question_text,responses,participants,first,last,choices\n' },
    'forms.csv line 1: this looks like a codebook: export /responses/form-data instead',
  ],
  [
    'two files joined, with their headers',
    { responses: onLine5({}) + onLine5({ timestamp: '2026-03-02T00:00:00Z' }) },
    'responses.csv line 7: repeats the header: remove it',
  ],
  ['an empty file', { responses: '' }, 'responses.csv line 1: the file is empty'],
  [
    'a row with too few fields',
    { responses: `${onLine5({})}a,b\n` },
    'responses.csv line 7: must have 14 fields, like the header, but has 2',
  ],
  [
    'a row with too many fields',
    { forms: csvOf([formRow()]).replace(/\n$/, ',x\n') },
    'forms.csv line 2: must have 6 fields, like the header, but has 7',
  ],
  ['an empty line', { responses: `${onLine5({})}\n` }, 'responses.csv line 7: is empty: remove it'],
  ['a line of commas', { forms: `${onLine3({})},,,,,\n` }, 'forms.csv line 4: is empty: remove it'],
  ['an end marker', { responses: `${onLine5({})}\\.\n` }, 'responses.csv line 7: must have 14 fields'],
  ['a quote left open', { responses: `${onLine5({})}"a,b\nc\n` }, 'responses.csv line 7: a quote is never closed'],
  ['a NUL', { responses: onLine5({ response: 'a\0b' }) }, 'responses.csv line 5: has a NUL character'],
  [
    'Latin-1',
    { responses: Buffer.from(onLine5({ response: 'caf\u00E9' }), 'latin1') },
    'responses.csv line 5: is not valid UTF-8',
  ],
  [
    'Latin-1 in a record of several lines, naming the first',
    { responses: Buffer.from(onLine5({ response: 'one\ntwo \u00E9' }), 'latin1') },
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
    'responses.csv line 5: has the same surveyid, timestamp, userid, question_ref as an earlier line',
  ],
  [
    'a response twice, its time written differently',
    { responses: onLine5({ userid: '1', timestamp: '2026-03-01 01:03:43.770047+01' }) },
    'responses.csv line 5: has the same surveyid, timestamp, userid, question_ref as an earlier line',
  ],
  [
    'a response twice, far apart',
    { responses: csvOf([...many, responseRow({ userid: '7' })]) },
    'responses.csv line 4502: has the same surveyid, timestamp, userid, question_ref as an earlier line',
  ],
  [
    'a NUL in JSON',
    { responses: onLine3002({ metadata: '{"a":"\\u0000"}', ad_id: null }) },
    'responses.csv line 3002: metadata: cannot be stored: unsupported Unicode escape sequence',
  ],
  [
    'half a surrogate pair in JSON',
    { responses: onLine3002({ metadata: '{"a":"\\ud83d"}', ad_id: null }) },
    'responses.csv line 3002: metadata: cannot be stored: invalid input syntax for type json',
  ],
  [
    'a number that numeric cannot hold',
    { responses: onLine3002({ metadata: '{"a":1e200000}', ad_id: null }) },
    'responses.csv line 3002: metadata: cannot be stored: value overflows numeric format',
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
    'forms.csv line 3: metadata: cannot be stored: unsupported Unicode escape sequence',
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
      if (phase === 'comparing responses') controller.abort(reason);
    };
    const options = { signal: controller.signal, onProgress };
    await expect(importFiles(running.url, { email: 'ann@example.org', ...paths }, options)).rejects.toThrow(reason);
    expect([...phases]).toEqual(['reading forms', 'reading responses', 'checking responses', 'comparing responses']);
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
