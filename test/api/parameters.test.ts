import { expect, test } from 'vitest';
import { CSV_COLUMNS } from '../../src/responses/columns.ts';
import { storeSurvey } from '../support/data.ts';
import { type Parameters, expectError, get, rowsOf } from './requests.ts';

const survey = await storeSurvey([{}]);

const many = (count: number) => Array.from({ length: count }, (_, i) => `value ${i}`);

const TIME =
  'must be a time such as 2026-03-01T09:30:00Z or 2026-03-01T09:30:00+02:00, or a date such as 2026-03-01 (midnight UTC).';
const TEXT = 'must be text without NUL characters, given at most';
const PAGE_SIZE = 'pageSize must be an integer from 1 to 10000.';
const TOKEN = 'after must be the token of a response.';
const ZONE = 'timezone must be the name of a time zone such as Africa/Nairobi, in its exact case.';
const UNCOUNTED =
  'count cannot be used with layout=wide: the number of records is known only at the end.';
const ARM =
  'arm must be seed_N or seed_N_M, with N from 1 to 1000000 and M from 1 to 100, given at most 50 times.';
const LEFT = 'with two columns left.';
const ORDER =
  'order=desc is supported only by /responses: leave order out, and sort the file after the download, or page through /responses.';

type Refusal = [path: string, parameters: Parameters, message: string];
// test/api/openapi.test.ts tries every parameter of every endpoint.
test.each<Refusal>([
  ['', { since: '2026-03-01T09:30:00' }, `since ${TIME}`],
  ['', { survey: ['a', 'b'] }, 'survey must be given once.'],
  ['/ndjson', { userid: 'a\0b' }, `userid ${TEXT} 500 times.`],
  ['/csv', { metadata: many(51) }, `metadata ${TEXT} 50 times.`],
  ['/csv', { safe: '__proto__' }, 'safe must be true or false.'],
  ...['0', '10001', '1e2', ''].map((pageSize) => ['', { pageSize }, PAGE_SIZE] as Refusal),
  ['', { after: 'bm8gdG9rZW4' }, TOKEN],
  ['', { order: 'newest' }, 'order must be asc or desc.'],
  ['/csv', { order: 'desc' }, ORDER],
  ['/xlsx', { order: 'desc' }, ORDER],
  [
    '/csv',
    { layout: 'wide', value: 'raw' },
    'value must be response, translated, translated_label, or label.',
  ],
  ['/csv', { layout: 'wide', count: 'true' }, UNCOUNTED],
  [
    '/csv',
    { layout: 'wide', after: Buffer.from('2026-03-01 00:00:00+00,,').toString('base64') },
    'after cannot be used with layout=wide: a wide file is not ordered by time and cannot be resumed.',
  ],
  ['/csv', { layout: 'long', repeats: 'first' }, 'repeats can only be used with layout=wide.'],
  [
    '/xlsx',
    { columns: 'question', codebook: 'true' },
    'columns can only be used with layout=wide.',
  ],
  ['/xlsx', { bom: 'true' }, 'bom cannot be used with a workbook: leave it out.'],
  [
    '/xlsx',
    { safe: 'true' },
    'safe cannot be used with a workbook, in which nothing runs as a formula: leave it out.',
  ],
  [
    '/xlsx',
    { after: 'any' },
    'after cannot be used with a workbook, which cannot be resumed: use since, or /responses/csv.',
  ],
  ...['seed_0', 'seed_1000001', 'seed_2_101', 'seed_02'].map(
    (arm) => ['/csv', { arm }, ARM] as Refusal,
  ),
  [
    '/csv',
    { layout: 'wide', omit: 'userid' },
    'omit cannot be used with layout=wide: it names columns of the long layout.',
  ],
  ['/csv', { numbers: 'true' }, 'numbers can only be used with layout=wide.'],
  ['/answers', { top: '1001' }, 'top must be an integer from 1 to 1000.'],
  [
    '/answers',
    { column: ['f0.q0', 'x'] },
    'column must be the name of a question’s column in the wide file of this survey.',
  ],
  ...['utc', 'PST', '+03:00', 'UTC\0'].map(
    (timezone) => ['/summary', { timezone }, ZONE] as Refusal,
  ),
])('%s refuses %j, and says what to send instead', async (path, parameters, message) => {
  const response = await get(`/responses${path}`, survey, parameters);
  expectError(response, 400, 'invalid_parameter', message);
});

test.each<[string, Parameters]>([
  ['/csv', { omit: 'shortcode' }],
  ['/xlsx', { omit: 'token' }],
  ['/csv', { omit: CSV_COLUMNS.slice(1) }],
])('%s refuses to omit %j, and names what it can omit', async (path, parameters) => {
  const { status, text } = await get(`/responses${path}`, survey, parameters);
  expect([status, text]).toEqual([400, expect.stringContaining(LEFT)]);
});

test('a filter can have 500 values, and a file 50 keys of the metadata', async () => {
  const page = await get('/responses', survey, { userid: [...many(499), 'user'] });
  expect(rowsOf(page)).toHaveLength(1);
  expect((await get('/responses/csv', survey, { metadata: many(50) })).text).toContain(
    ',metadata.value 49\n',
  );
});
