import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Digests, digestsQuery } from '../../src/db/digests.ts';
import { render } from '../../src/db/sql.ts';
import { awkwardResponses } from '../support/awkward-responses.ts';
import {
  addResponses,
  createAccount,
  createBulkSurvey,
  createSurvey,
  sql,
} from '../support/data.ts';
import { query } from '../support/database.ts';
import { loadFiles } from '../support/load-files.ts';
import { runFolder } from '../support/once-per-run.ts';
import { stackAddress } from '../support/stack-address.ts';
import { expectError, get } from './requests.ts';

const survey = await createSurvey(await createAccount(), undefined, 3);
await addResponses(survey, awkwardResponses());

test.each([
  [
    'a response is edited',
    `update responses set pageid = '' where surveyid = $1 and pageid is null`,
    true,
  ],
  [
    'a character moves to the next field',
    `update responses set question_text = left(question_text, -1),
     response = right(question_text, 1) || response where surveyid = $1`,
    true,
  ],
  [
    'a response moves by a microsecond',
    `update responses set timestamp = timestamp - interval '1us'
     where surveyid = $1 and timestamp > '9999-01-01'`,
    true,
  ],
  ['a form version is edited', `update surveys set metadata = '[]' where id = $1`, true],
  [
    'what is in no file changes',
    `update responses set seed = 7, shortcode = 'other' where surveyid = $1`,
    false,
  ],
])('the tag of the digests changes if %s: %s', async (_, change, isChanged) => {
  const { headers } = await get('/responses/digests', survey);
  await sql(change, [survey.forms[0]?.id]);
  const tag = { 'If-None-Match': headers.get('ETag') ?? '', 'Accept-Encoding': 'GZIP' };
  expect((await get('/responses/digests', survey, {}, { headers: tag })).status).toBe(
    isChanged ? 200 : 304,
  );
});

test('digests are the same in a database that was restored with another collation, time zone and date style', async () => {
  const some = await createSurvey(survey.account, undefined, 3);
  // A file to import has objects.
  await addResponses(
    some,
    awkwardResponses().filter(({ metadata }) => metadata === null || metadata?.startsWith('{')),
  );
  const rowsIn = (url: string, account: string) => {
    const { text, params } = render(
      digestsQuery({ accountId: account, name: some.name, limits: null }, {}, 'day').text,
    );
    return query(url, text, [...params]);
  };
  const { databaseUrl } = stackAddress();
  const name = `restored_${randomUUID().replaceAll('-', '')}`;
  await sql(
    `create database ${name} template template0 locale_provider icu icu_locale 'tr' locale 'C'`,
  );
  try {
    for (const setting of [
      `timezone = 'Asia/Kathmandu'`,
      `datestyle = 'SQL, DMY'`,
      `extra_float_digits = -15`,
    ])
      await sql(`alter database ${name} set ${setting}`);
    const restored = new URL(`/${name}`, databaseUrl).href;
    const { bytes: responses } = await get('/responses/csv', some);
    const { bytes: forms } = await get('/responses/form-data', some);
    await loadFiles(restored, await runFolder(), { responses, forms });
    const [account] = await query<{ id: string }>(restored, 'select id from users');
    expect(await rowsIn(restored, account?.id ?? '')).toEqual(
      await rowsIn(databaseUrl, survey.account.id),
    );
  } finally {
    await sql(`drop database ${name} with (force)`);
  }
});

test('there are up to 20,000 digests', async () => {
  const columns = { timestamp: `timestamptz '2020-01-01Z' + n * interval '1 hour'` };
  const long = await createBulkSurvey(survey.account, { rows: 20_000, forms: 1, columns });
  const most = await get('/responses/digests', long, { interval: 'hour' });
  expect([most.status, (JSON.parse(most.text) as Digests).digests.length]).toEqual([200, 20_000]);
  await addResponses(long, [{ timestamp: '2019-12-31T23:00:00Z' }]);
  const message =
    'This selection has too many intervals to return at once. Narrow it with since and until, or use a longer interval.';
  expectError(
    await get('/responses/digests', long, { interval: 'hour' }),
    400,
    'export_too_large',
    message,
  );
  expect((await get('/responses/digests', long)).status).toBe(200);
});
