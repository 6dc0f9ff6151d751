import { expect, test } from 'vitest';
import { copySurveys } from '../../tools/import/copy-surveys.ts';
import { openSource } from '../../tools/import/source.ts';
import { awkwardResponses } from '../support/awkward-responses.ts';
import { addResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import { query, startDatabase } from '../support/database.ts';
import { stackAddress } from '../support/stack-address.ts';

test('a copy of another instance has every byte that the service exports', async () => {
  const account = await createAccount();
  const survey = await createSurvey(account, undefined, 3);
  const isObject = (metadata: string | null | undefined) => metadata?.startsWith('{') ?? true;
  const all = awkwardResponses().filter(({ metadata }) => isObject(metadata));
  await addResponses(survey, all);
  await createSurvey(account, '50% and nothing else', 1);
  await using stack = new AsyncDisposableStack();
  const copy = await startDatabase();
  stack.defer(copy.stop);

  const { signal } = new AbortController();
  const source = openSource(stackAddress().origin, account.key, signal);
  const options = { dryRun: false, signal, onProgress: () => {}, onNotice: () => {} };
  const copies = await copySurveys(copy.url, source, { email: 'copy@example.org' }, options);
  expect(copies.map(({ error, refused, missing }) => [error, refused, missing])).toEqual([
    [undefined, 0, 0],
    [undefined, 0, 0],
  ]);
  const forms = `select (to_jsonb(s) - 'userid')::text from surveys s
    where userid = (select id from users where email = $1) order by id`;
  const responses = `select (to_jsonb(r) - '{shortcode, seed}'::text[])::text from responses r
    where surveyid = any($1) order by surveyid, timestamp, userid collate "C", question_ref collate "C"`;
  const ids = survey.forms.map(({ id }) => id);
  expect(await query(copy.url, responses, [ids])).toEqual(await sql(responses, [ids]));
  expect(await query(copy.url, forms, ['copy@example.org'])).toEqual(
    await sql(forms, [account.email]),
  );
});
