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
import { type RunningDatabase, dump, query, startDatabase } from '../support/database.ts';

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

const gzipped = gzipSync(csvOf(Array.from({ length: 2000 }, (_, index) => responseRow({ userid: `${index * 7919}` }))));
const damaged = Buffer.from(gzipped);
damaged.fill(0xff, 5000, 5008);

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
const unlikely = Array.from({ length: 700 }, (_, index) => ((index * 2654435761) >>> 0).toString(36)).join('');
const wideHeader = 'userid,parent_surveyid,parent_shortcode,flowid,started,ended,attempts,metadata,start.health\n';
const codebookHeader =
  'column,shortcode,question_ref,question_idx,question_text,responses,participants,first,last,choices\n';
const unknownForm = `"${unknownId}" is neither in the forms file nor stored for this account`;

/** Titles, contents of the responses file, and messages, which follow its name. */
const responsesFiles: [string, string | Uint8Array, string][] = [
  // What is not CSV has no lines.
  ['an Excel workbook', gzipSync(workbook), ': is an Excel workbook, not CSV: export the survey as CSV'],
  ['an old Excel workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), ': is an Excel workbook, not CSV'],
  ['an OpenDocument spreadsheet', openDocument, ': is an OpenDocument file, not CSV'],
  ['a ZIP file', zipOf('responses.csv'), ': is a ZIP archive, not CSV: unpack it'],
  ['a file gzipped twice', gzipSync(gzipSync(onLine5({}))), ': is compressed twice with gzip: decompress it once'],
  ['a zstd file', zstdCompressSync(onLine5({})), ': is compressed, but not with gzip: decompress it first'],
  ['UTF-16', utf16, ': is UTF-16, not UTF-8: export the file again'],
  ['UTF-16, big-endian', Buffer.from(utf16).swap16(), ': is UTF-16, not UTF-8: export the file again'],
  ['UTF-16 without a mark', utf16.subarray(2), ': is UTF-16, not UTF-8: export the file again'],
  ['an HTML page', '\n<!DOCTYPE html>\n<title>404</title>', ': is HTML or XML, not CSV, perhaps the error page'],
  ['an error', '{"error":{"message":"Invalid."}}', ': is an error of the service, not CSV: "Invalid."'],
  ['JSON', '\uFEFF{"responses":[]}', ': is JSON, not CSV: export the file as CSV'],
  ['a truncated gzip file', gzipped.subarray(0, gzipped.length - 9), ': the gzip file is cut off'],
  ['a damaged gzip file', damaged, ': the gzip file is damaged'],
  ['a gzip file with more bytes', Buffer.concat([gzipped, Buffer.from('more')]), ': the gzip file is damaged, or has'],
  [
    'a gzip file with more bytes after zeros',
    Buffer.concat([gzipped, Buffer.from('\0more')]),
    ': the gzip file is damaged',
  ],
  [
    'a truncated member after zeros',
    Buffer.concat([gzipped, Buffer.from('\0'), gzipped.subarray(0, 99)]),
    ': the gzip file is cut off',
  ],
  ['an empty file', '', ' line 1: the file is empty'],
  ['a line for Excel', `sep=,\n${onLine5({})}`, ' line 1: remove this line'],
  [
    'a header without the columns',
    'version https://git-lfs.github.com/spec/v1\n',
    ' line 1: must name the columns of /responses/csv, separated by commas, but is "version https://git-lfs',
  ],
  [
    'a header with unknown columns',
    csvOf([responseRow({ token: 'b', '': 'a' })]),
    ' line 1: the header has unknown columns token, ""',
  ],
  [
    'the forms file',
    csvOf([formRow()]),
    ' line 1: this looks like the forms file: did you swap --forms and --responses?',
  ],
  ['a wide file', wideHeader, ' line 1: this looks like a file with layout=wide: export /responses/csv instead'],
  ['two files joined', onLine5({}) + onLine5({ userid: '4' }), ' line 7: repeats the header: remove it'],
  ['too few fields', `${onLine5({})}a,b\n`, ' line 7: must have 14 fields, like the header, but has 2'],
  ['an empty line', `${onLine5({})}\n`, ' line 7: is empty: remove it'],
  ['a quote left open', `${onLine5({})}"a,b\nc\n`, ' line 7: a quote is never closed'],
  ['a NUL', onLine5({ response: 'a\0b' }), ' line 5: has a NUL character'],
  [
    'Latin-1 in a record of several lines, naming the first',
    Buffer.from(onLine5({ response: 'one\ntwo \u00E9' }), 'latin1'),
    ' line 5: is not valid UTF-8',
  ],
  [
    'a truncated character at the end',
    Buffer.concat([Buffer.from(onLine5({})), Buffer.from([0xf0, 0x9f])]),
    ' line 7: is not valid UTF-8',
  ],
  [
    'an id that a spreadsheet has rounded',
    onLine5({ userid: '2.00092E+15' }),
    ' line 5: userid: "2.00092E+15" is a rounded number: the file was saved in a spreadsheet. Import it as it was exported',
  ],
  ['an unknown form version', onLine5({ surveyid: unknownId }), ` line 5: surveyid: ${unknownForm}`],
  ['another ad_id', onLine5({ ad_id: '2385' }), ' line 5: ad_id: "2385" is not the ad_id of the metadata'],
  ['no ad_id', onLine5({ ad_id: null }), ' line 5: ad_id: null is not the ad_id of the metadata'],
  [
    'a day that does not exist',
    onLine5({ timestamp: '2026-02-29T00:00:00Z' }),
    ' line 5: timestamp: cannot be stored: date/time field value out of range: "2026-02-29',
  ],
  [
    'a time before the year 1 in UTC',
    onLine3002({ timestamp: '0001-01-01T00:00:00+05' }),
    ' line 3002: timestamp: is not in the years 1 to 9999 in UTC',
  ],
  [
    'a time after the year 9999 in UTC',
    onLine3002({ timestamp: '9999-12-31T23:59:59-05' }),
    ' line 3002: timestamp: is not in the years 1 to 9999 in UTC',
  ],
  [
    'JSON that Postgres cannot store',
    onLine3002({ metadata: '{"a":"\\u0000"}', ad_id: null }),
    ' line 3002: metadata: cannot be stored: unsupported Unicode escape sequence',
  ],
  [
    'a key too long for the index',
    onLine3002({ question_ref: unlikely }),
    ' line 3002: surveyid, timestamp, userid, question_ref: too long for an index',
  ],
  [
    'a response twice, far apart, its time written differently',
    csvOf([...many, responseRow({ userid: '7', timestamp: '2026-03-01 01:03:43.770047+01' })]),
    ' line 4502: has the same surveyid, timestamp, userid, question_ref as an earlier line',
  ],
];

/** The same for the forms file. */
const formsFiles: [string, string | Uint8Array, string][] = [
  [
    'a header with a repeated column',
    csvOf([formRow()]).replace('shortcode,survey_name', 'shortcode,shortcode'),
    ' line 1: the header lacks column survey_name; it repeats column shortcode',
  ],
  [
    'the responses file',
    csvOf([responseRow()]),
    ' line 1: this looks like the responses file: did you swap --forms and --responses?',
  ],
  ['a codebook', codebookHeader, ' line 1: this looks like a codebook: export /responses/form-data instead'],
  [
    'too many fields',
    csvOf([formRow()]).replace(/\n$/, ',x\n'),
    ' line 2: must have 6 fields, like the header, but has 7',
  ],
  ['a line of commas', `${onLine3({})},,,,,\n`, ' line 4: is empty: remove it'],
  [
    'a form version twice',
    onLine3({ surveyid: formId.toUpperCase() }),
    ' line 3: has the same surveyid as an earlier line',
  ],
  [
    'a survey without a name',
    onLine3({ survey_name: '' }),
    ' line 3: survey_name: "" is not a name that a request can have',
  ],
  ['a survey whose name no URL can hold', onLine3({ survey_name: 'é'.repeat(1334) }), ' line 3: survey_name: "é'],
  [
    'a name too long for the index',
    onLine3({ survey_name: unlikely }),
    ' line 3: surveyid, survey_name: too long for an index',
  ],
  [
    'a form version from after the year 9999 in UTC',
    onLine3({ survey_created: '9999-12-31T23:59:59-05' }),
    ' line 3: survey_created: is not in the years 1 to 9999 in UTC',
  ],
  [
    'a version that follows one of the same number',
    onLine3({ version: '1' }),
    ' line 3: version: 1 cannot follow 1, the version created before it',
  ],
  [
    'versions that contradict the creation times',
    onLine3({ survey_created: '2026-01-01T00:00:00Z' }),
    ' line 2: version: 1 cannot follow 2, the version created before it',
  ],
  [
    'a form version of another account',
    onLine3({ surveyid: unknownId }),
    ` line 3: surveyid: "${unknownId}" belongs to another account`,
  ],
];

type Refusal = [string, Files, string];

const refusals: Refusal[] = [
  ...responsesFiles.map(([title, responses, why]): Refusal => [title, { responses }, `responses.csv${why}`]),
  ...formsFiles.map(([title, forms, why]): Refusal => [title, { forms }, `forms.csv${why}`]),
  ['a file only named .gz', { suffix: '.csv.gz', forms: '' }, 'forms.csv.gz: is named .gz, but is not a gzip file'],
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

  test('a missing file, and a directory', async () => {
    const paths = await writeFiles(folder);
    const forms = join(folder, 'nowhere.csv');
    const load = (input: Partial<typeof paths>) =>
      importFiles(running.url, { email: 'ann@example.org', ...paths, ...input });
    await expect(load({ forms })).rejects.toThrow(`${forms}: there is no such file`);
    await expect(load({ responses: folder })).rejects.toThrow(`${folder}: is a directory`);
    expect(await dump(running.url)).toEqual(before);
  });

  const ann = { forms: csvOf([formRow({ surveyid: secondFormId })]) };
  const addForm = (email: string) => `
    insert into users (email) values ('${email}') on conflict do nothing;
    insert into surveys (id, userid, survey_name, shortcode, title, formid)
    select '${formId}', id, 's', 'f', 't', 'f' from users where email = '${email}'`;

  test.each([
    [
      'stores for another account',
      { forms: csvOf([formRow()]) },
      '',
      addForm('other@example.org'),
      'belongs to another account',
    ],
    [
      'deletes',
      ann,
      addForm('ann@example.org'),
      `delete from surveys where id = '${formId}'`,
      'is neither in the forms file nor',
    ],
  ])('a form version that another session %s meanwhile', async (_, files, prepare, change, message) => {
    await withConnection(running.url, async (other) => {
      await other.query(prepare);
      await other.query(`begin; ${change}`);
      const loading = loadFiles(running.url, folder, files);
      loading.catch(() => {});
      const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      await expect.poll(() => query(running.url, waiting)).toHaveLength(1);
      await other.query('commit');
      await expect(loading).rejects.toThrow(message);
      await other.query(
        `delete from surveys where id = '${formId}'; delete from users where email = 'ann@example.org'`,
      );
    });
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
