import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { anyFilter, pgText, questionText } from '../support/arbitraries.ts';
import { errorBody, fetchApi, query } from '../support/api.ts';
import { type Choice, choicesOf } from '../support/choices.ts';
import { naiveCsv } from '../support/csv.ts';
import {
  type TestAccount,
  type TestResponse,
  type TestSurvey,
  addResponses,
  createAccount,
  createSurvey,
  iso,
  sql,
} from '../support/data.ts';

type Parameters = Record<string, string | readonly string[] | undefined>;

const questions = (survey: TestSurvey, parameters: Parameters = {}) =>
  fetchApi(`/responses/questions${query({ survey: survey.name, ...parameters })}`, { key: survey.account.key });

const HEADER = 'column,shortcode,question_ref,question_idx,question_text,responses,participants,first,last,choices\n';

/** An entry of the codebook, in the order of its fields. */
type Entry = ReadEntry & { readonly choices: Choice[] | null };
type ReadEntry = Readonly<Record<'column' | 'question_ref' | 'question_text', string>>;

/** The entries of a survey's codebook in their order, each read by Postgres from the rows of its question. */
async function codebook(survey: TestSurvey, where = 'true'): Promise<Entry[]> {
  const rows = await sql<{ entry: ReadEntry }>(
    `with r as (
       select r.*, s.shortcode as form, s.created from responses r join surveys s on s.id = r.surveyid
       where r.surveyid = any($1::uuid[]) and (${where})
     )
     select json_build_object(
       'column', concat(form, '.', question_ref), 'shortcode', form, 'question_ref', question_ref,
       'question_idx', (select r.question_idx::text from r where (form, question_ref) = (q.form, q.question_ref)
         order by r.question_idx limit 1),
       'question_text', (select question_text from r where (form, question_ref) = (q.form, q.question_ref)
         order by timestamp desc, userid desc, surveyid desc limit 1),
       'responses', (select count(*) from r where (form, question_ref) = (q.form, q.question_ref)),
       'participants', (select count(*) from (select distinct userid from r
         where (form, question_ref) = (q.form, q.question_ref)) u),
       'first', (select ${iso('timestamp')} from r where (form, question_ref) = (q.form, q.question_ref)
         order by timestamp limit 1),
       'last', (select ${iso('timestamp')} from r where (form, question_ref) = (q.form, q.question_ref)
         order by timestamp desc limit 1)) as entry
     from (select distinct form, question_ref from r) q
     order by
       (select (created, id) from surveys v where id = any($1::uuid[]) and shortcode = q.form order by 1 limit 1),
       (select min(question_idx) from r where (form, question_ref) = (q.form, q.question_ref)),
       question_ref collate "C"`,
    [survey.forms.map(({ id }) => id)],
  );
  return rows.map(({ entry }) => Object.assign(entry, { choices: choicesOf(entry.question_text) }));
}

/** @param entries of the codebook */
const csvOf = (entries: readonly Entry[]) =>
  HEADER +
  naiveCsv(
    entries.map(({ choices, ...entry }) => [
      ...Object.values(entry).map(String),
      choices ? JSON.stringify(choices) : null,
    ]),
  );

const anyResponses = fc.uniqueArray(
  fc.record<TestResponse>({
    form: fc.nat(4),
    timestamp: fc.constantFrom('2026-03-01T00:00:00Z', '2026-03-01T00:00:00.000001Z', '2025-12-31T23:59:59.123Z'),
    userid: fc.oneof(pgText, fc.constantFrom('a', 'b', 'B', 'ä')),
    question_ref: fc.oneof(pgText, fc.constantFrom('q1', 'q2', 'q,3', '')),
    question_idx: fc.integer({ min: -3, max: 3 }),
    question_text: fc.oneof(pgText, questionText, questionText),
  }),
  {
    minLength: 1,
    maxLength: 60,
    selector: ({ form, timestamp, userid, question_ref }) => JSON.stringify([form, timestamp, userid, question_ref]),
  },
);

let account: TestAccount;
beforeAll(async () => {
  account = await createAccount();
});

test('the codebook has what Postgres finds for each question, in the order of the wide columns, for any rows', async () => {
  const creations = fc.array(fc.constantFrom('2026-01-01', '2026-01-02', '2026-01-03'), { minLength: 5, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(anyResponses, creations, anyFilter, async (rows, created, [filter, where]) => {
      const survey = await createSurvey(account, undefined, 5); // f0, f0, f1, f1, f2
      await sql(
        `update surveys set created = d::timestamptz from unnest($1::uuid[], $2::text[]) v (v, d) where id = v`,
        [survey.forms.map(({ id }) => id), created],
      );
      await addResponses(survey, rows);
      const expected = await codebook(survey, where);
      expect((await questions(survey, filter)).text).toBe(jsonOf(expected));
      expect((await questions(survey, { ...filter, format: 'csv' })).text).toBe(csvOf(expected));
      const wide = await fetchApi(
        `/responses/csv${query({ survey: survey.name, layout: 'wide', ...filter })}`,
        account,
      );
      const columns = expected.map(({ column }) => column);
      expect(wide.text).toContain(`,metadata${columns.length > 0 ? ',' : ''}${naiveCsv([columns])}`);
    }),
    { numRuns: 15 },
  );
});

/** The fields are in this order, and line separators are escaped. */
const jsonOf = (entries: readonly Entry[]) =>
  JSON.stringify({ questions: entries }).replace(
    /[\u0085\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

describe('a codebook', () => {
  let survey: TestSurvey;
  beforeAll(async () => {
    survey = await createSurvey(account, undefined, 5);
    await addResponses(
      survey,
      Array.from({ length: 600 }, (_, i) => ({
        form: (i * 7) % 5,
        timestamp: new Date(Date.UTC(2026, 2, 1) + i * 600_000).toISOString(),
        userid: `u${(i * 31) % 40}`,
        question_ref: `q${i % 11}`,
        question_idx: i % 13,
        question_text: `asked for the ${i}th time`,
      })),
    );
  });

  test('names columns by question with columns=question, still one entry per form and question', async () => {
    const expected = (await codebook(survey)).map((entry) => Object.assign(entry, { column: entry.question_ref }));
    expect((await questions(survey, { columns: 'question' })).text).toBe(jsonOf(expected));
    expect((await questions(survey, { columns: 'question', format: 'csv' })).text).toBe(csvOf(expected));
    const byForm = await questions(survey, { columns: 'form_question', format: 'json' });
    expect(byForm.text).toBe(jsonOf(await codebook(survey)));
  });

  test('has the text of the form version that comes last, if the latest responses tie in all else', async () => {
    const tied = await createSurvey(account, undefined, 2);
    await addResponses(
      tied,
      tied.forms.map(({ id }, form) => ({ form, question_ref: 'q', question_text: id })),
    );
    const { text } = await questions(tied);
    const last = tied.forms
      .map(({ id }) => id)
      .toSorted()
      .at(-1);
    expect(JSON.parse(text)).toMatchObject({ questions: [{ question_text: last, responses: 2, participants: 1 }] });
  });

  test('is empty if nothing matches', async () => {
    for (const parameters of [{ since: '2030-01-01' }, { shortcode: 'none' }, { userid: 'nobody' }]) {
      const json = await questions(survey, parameters);
      expect([json.status, json.text]).toEqual([200, '{"questions":[]}']);
      const csv = await questions(survey, { ...parameters, format: 'csv' });
      expect([csv.status, csv.text]).toEqual([200, HEADER]);
    }
  });

  test.each<[Parameters, string]>([
    [{ format: 'xlsx' }, 'format must be json or csv.'],
    [{ format: '' }, 'format must be json or csv.'],
    [{ columns: 'form' }, 'columns must be form_question or question.'],
    [{ since: 'yesterday', format: 'csv' }, 'since must be a time'],
  ])('refuses %j', async (parameters, message) => {
    const response = await questions(survey, parameters);
    expect([response.status, response.headers.get('X-Error-Code')]).toEqual([400, 'invalid_parameter']);
    expect(response.text).toContain(message);
  });
});

test('a codebook can have more questions than a wide file, of the same time and participant, until it is too large', async () => {
  const survey = await createSurvey(account, undefined, 2);
  const add = async (from: number, to: number, length: number) =>
    sql(
      `insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx,
         question_text, response, timestamp)
       select 'p', ($1::uuid[])[1 + i % 2], 'f0', 1, 'u', 'q' || i, i, repeat('x', $4), 'yes', '2026-03-01Z'
       from generate_series($2::int, $3) i`,
      [survey.forms.map(({ id }) => id), from, to, length],
    );
  await add(1, 6_000, 300);
  const response = await questions(survey, { format: 'csv' });
  const expected = Array.from({ length: 6_000 }, (_, i) => {
    const name = `q${i + 1}`;
    const time = '2026-03-01T00:00:00.000Z';
    return [`f0.${name}`, 'f0', name, String(i + 1), 'x'.repeat(300), '1', '1', time, time, null];
  });
  expect(response.text === HEADER + naiveCsv(expected)).toBe(true);

  await add(6_001, 6_010, 2_000_000);
  for (const format of ['json', 'csv']) {
    const refused = await questions(survey, { format });
    expect([refused.status, refused.headers.get('X-Error-Code'), refused.text]).toEqual([
      400,
      'export_too_large',
      errorBody('This selection has too many questions to return at once. Narrow it with shortcode or question_ref.'),
    ]);
  }
  expect(JSON.parse((await questions(survey, { question_ref: 'q6000' })).text)).toMatchObject({
    questions: [{ question_ref: 'q6000', question_idx: '6000' }],
  });
});

/** Texts of questions, and the labels of their choices; null if they have none. */
const CHOICES: readonly (readonly [text: string, labels: string[] | null])[] = [
  ['Which?\n- A. North Central\n- B. South', ['North Central', 'South']],
  ['Which?\n-A. North Central\n-B South\n\nC) East\nD : West', ['North Central', 'South', 'East', 'West']],
  ['Which?\r\na. yes\r\nb. no\r\n', ['yes', 'no']],
  ['Which?\n \t\u00a0-\u00a0A\u00a0.\tyes \u00a0\n- B.\tno\t', ['yes', 'no']],
  ['أي؟\n- A. نعم\n- B. لا', ['نعم', 'لا']],
  ['Which?\n- A. yes, "or" so\n- B. 🎉\\\u2028', ['yes, "or" so', '🎉\\\u2028']],
  ['Which?\nnot a choice\n- A. yes\nnor this\n- B. no\n• C. nor this', ['yes', 'no']],
  ['Which?\n- A. yes\n- A. yes\n- B. no\n- a. yes', ['yes', 'no']],
  ['Which?\n- A. yes\n- B. yes', ['yes', 'yes']],
  ['Which?\n- A. yes\r\r\n- B. no \r', ['yes\r', 'no']],
  ['A friend said:\n- A. yes\n- B. no', ['yes', 'no']],
  [
    `Which?${Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ', (letter) => `\n${letter}. ${letter}${letter}`).join('')}`,
    Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ', (letter) => letter + letter),
  ],
  ['A. yes\nB. no', null],
  ['Which?\n- A. yes', null],
  ['Which?\n- A. yes\n- A. yes', null],
  ['Which?\n- A. yes\n- A. no\n- B. maybe', null],
  ['Which?\n- B. no\n- A. yes', null],
  ['Which?\n- A. yes\n- C. no', null],
  ['Which?\n- B. yes\n- C. no', null],
  ['Which?\n- A. yes\n- B. no\nAnd which?\n- A. red\n- B. blue', null],
  ['Which?\n- A. yes\n- B. no\nA friend would say so.', null],
  ['Which?\n- A.\n- B.', null],
  ['Which?\n- A. \n- B. \r', null],
  ['Which?\n- A. \r\n- B. \r\n- C. x\r', null],
  ['Which?\n- A.yes\n- B.no', null],
  ['Which?\n- A.. yes\n- B.. no', null],
  ['Which?\n- A. . yes\n- B. : no', null],
  ['Which?\n-- A. yes\n-- B. no', null],
  ['Which?\n- А. yes\n- В. no', null], // Cyrillic
  ['Which?\n- Á. yes\n- B. no', null],
  ['Which?\n- A\u2003yes\n- B\u2003no', null],
  ['Which?\n1. yes\n2. no', null],
  ['Which?\r- A. yes\r- B. no', null],
  ['Which?\u2028- A. yes\u2028- B. no', null],
  ['', null],
];

test('choices are found in every way that texts list them, and nowhere else', async () => {
  const survey = await createSurvey(account);
  const rows = CHOICES.map(([question_text], i) => ({ question_text, question_ref: `q${i}`, question_idx: i }));
  await addResponses(survey, rows);
  const { questions: entries } = JSON.parse((await questions(survey)).text) as { questions: Entry[] };
  const found = entries.map(({ question_text, choices }) => [
    question_text,
    choices && choices.map(({ label }) => label),
  ]);
  expect(found).toEqual(CHOICES);
  for (const { question_text, choices } of entries) expect(choices).toEqual(choicesOf(question_text));
});
