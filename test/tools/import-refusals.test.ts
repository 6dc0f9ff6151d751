import { sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { withConnection } from '../../tools/connection.ts';
import {
  type FileRow,
  csvOf,
  formId,
  formRow,
  incompressible,
  responseRow,
  secondFormId,
  secondFormRow,
} from '../support/export-files.ts';
import { type Files, loadFiles } from '../support/load-files.ts';
import { dump, startDatabase, untilBlocked } from '../support/database.ts';
import { newFolder } from '../support/once-per-run.ts';

const email = 'ann@example.org';
const unknownId = '3f1c6c5e-0000-4000-8000-00000000dead';

/**
 * A responses file whose record on line 5 has these values. The record before it is on lines 2 to
 * 4.
 */
function onLine5(values: FileRow = {}): string {
  const first = responseRow({ userid: '1', response: 'one\ntwo\r\nthree' });
  return csvOf([first, responseRow(values), responseRow({ userid: '3' })]);
}

/** A forms file whose record on line 3 has these values. */
function onLine3(values: FileRow = {}): string {
  return csvOf([formRow(), secondFormRow(values)]);
}

const many = Array.from({ length: 1500 }, (_, index) => responseRow({ userid: `${index}` }));

/** Many valid rows, and one on line 1002 that only Postgres finds to be invalid. */
function onLine1002(values: FileRow): string {
  return csvOf(many.map((row, index) => (index === 1000 ? { ...row, ...values } : row)));
}

const gzipped = gzipSync(
  csvOf(Array.from({ length: 2000 }, (_, index) => responseRow({ userid: `${index * 7919}` }))),
);
const damaged = Buffer.from(gzipped);
damaged.fill(0xff, 5000, 5008);
const withMore = (...more: (string | Uint8Array)[]) =>
  Buffer.concat([gzipped, ...more.map((part) => Buffer.from(part))]);

const KEY = 'surveyid, timestamp, userid, question_ref';
const OTHER_ZONE = '2026-03-01 01:03:43.770047+01'; // the time of all rows

/**
 * Messages, which follow the file's name, and contents of the file.
 */
const responsesFiles: [string, string | Uint8Array][] = [
  [': the gzip file is cut off', withMore('\0', gzipped.subarray(0, 99))],
  [': the gzip file is damaged', damaged],
  [': the gzip file is damaged, or has other bytes after its end', withMore('\0more')],
  [' line 1: the file is empty', ''],
  [
    ' line 1: must name the columns of /responses/csv, separated by commas, but is "version 1": it lacks parent_surveyid, ',
    'version 1\n',
  ],
  [
    ' line 1: must name the columns of /responses/csv, separated by commas, but is "parent_surveyid,parent_shortcode,surveyid,flowid,userid,ques…": it has unknown or repeated token, ""',
    csvOf([responseRow({ token: 'b', '': 'a' })]),
  ],
  [' line 1: this looks like the forms file: did you swap --forms and --responses?', onLine3()],
  [' line 7: must have 14 fields, like the header, but has 2', `${onLine5()}a,b\n`],
  [' line 5: response: has a NUL character', onLine5({ response: 'a\0b' })],
  [' line 5: is not valid UTF-8', Buffer.from(onLine5({ response: 'one\ntwo \u00E9' }), 'latin1')],
  [
    ` line 5: surveyid: "${unknownId}" is neither in the forms file nor stored`,
    onLine5({ surveyid: unknownId }),
  ],
  [' line 5: ad_id: "2385" is not the ad_id of the metadata', onLine5({ ad_id: '2385' })],
  [
    ' line 5: timestamp: cannot be stored: date/time field',
    onLine5({ timestamp: '2026-02-29T00:00:00Z' }),
  ],
  [
    ' line 1002: timestamp: is not in the years 1 to 9999 in UTC',
    onLine1002({ timestamp: '0001-01-01T00:00:00+05' }),
  ],
  [
    ' line 1002: metadata: cannot be stored: unsupported Unicode',
    onLine1002({ metadata: '{"a":"\\u0000"}' }),
  ],
  [` line 1002: ${KEY}: too long for an index`, onLine1002({ question_ref: incompressible })],
  [
    ` line 1502: has the same ${KEY} as an earlier line`,
    csvOf([...many, { ...many[7], timestamp: OTHER_ZONE }]),
  ],
];

/** The same for the forms file. */
const formsFiles: typeof responsesFiles = [
  [
    ' line 1: must name the columns of /responses/form-data, separated by commas, but is "surveyid,shortcode,version,version,survey_created,metadata": it lacks survey_name, and has unknown or repeated version',
    onLine3().replace('survey_name', 'version'),
  ],
  [' line 1: this looks like the responses file: did you swap --forms and --responses?', onLine5()],
  [
    ' line 3: has the same surveyid as an earlier line',
    onLine3({ surveyid: formId.toUpperCase() }),
  ],
  [' line 3: survey_name: "" is not a name that a request can have', onLine3({ survey_name: '' })],
  [' line 3: survey_name: "é', onLine3({ survey_name: 'é'.repeat(1334) })], // no URL can hold it
  [
    ' line 3: surveyid, survey_name: too long for an index',
    onLine3({ survey_name: incompressible }),
  ],
  [' line 3: version: 1 cannot follow 1, the version created before it', onLine3({ version: '1' })],
  [
    ` line 3: surveyid: "${unknownId}" belongs to another account`,
    onLine3({ surveyid: unknownId }),
  ],
];

const { url } = await startDatabase();
const folder = await newFolder();

describe('an import refuses', async () => {
  // Another account's data, with ids that the files do not contain.
  const ofOthers = {
    email: 'other@example.org',
    forms: csvOf([formRow({ surveyid: unknownId })]),
    responses: csvOf([responseRow({ surveyid: unknownId })]),
  };
  await loadFiles(url, folder, ofOthers);
  const before = await dump(url);

  test.each([
    ...responsesFiles.map(([message, responses]): [string, Files] => [
      `responses.csv${message}`,
      { responses },
    ]),
    ...formsFiles.map(([message, forms]): [string, Files] => [`forms.csv${message}`, { forms }]),
    ['forms.csv.gz: is named .gz, but is not a gzip file', { suffix: '.csv.gz', forms: '' }] as [
      string,
      Files,
    ],
  ])('%s', async (message, files) => {
    await expect(loadFiles(url, folder, files)).rejects.toThrow(folder + sep + message);
  });

  const addForm = (address: string) => `
    insert into users (email) values ('${address}') on conflict do nothing;
    insert into surveys (id, userid, survey_name, shortcode, title, formid)
    select '${formId}', id, 's', 'f', 't', 'f' from users where email = '${address}'`;

  test.each([
    [
      'stores for another account',
      formId,
      '',
      addForm('other@example.org'),
      'belongs to another account',
    ],
    [
      'deletes',
      secondFormId,
      addForm(email),
      `delete from surveys where id = '${formId}'`,
      'is neither in the forms',
    ],
  ])(
    'a form version that another session %s meanwhile',
    async (_, surveyid, prepare, change, message) => {
      await withConnection(url, async (other) => {
        await other.query(prepare);
        await other.query(`begin; ${change}`);
        const loading = loadFiles(url, folder, { forms: csvOf([formRow({ surveyid })]) });
        loading.catch(() => {});
        await untilBlocked(url);
        await other.query('commit');
        await expect(loading).rejects.toThrow(message);
        await other.query(
          `delete from surveys where id = '${formId}'; delete from users where email = '${email}'`,
        );
      });
    },
  );

  test('without storing anything, in all of these cases', async () => {
    expect(await dump(url)).toEqual(before);
  });
});
