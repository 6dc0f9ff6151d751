import { type TestSurvey, sql } from '../support/data.ts';

/*
 * The text of a response contains its account's letter and its number, and its other values follow from the number. So a file
 * can be checked without querying the database again.
 */

const QUESTIONS = 6;
/** Timestamps are spread over this many milliseconds, out of order: new rows appear anywhere in a file. */
const SPREAD = 1_000_003;

/** Stores responses `from` to `to - 1`. */
export async function insertRows(survey: TestSurvey, letter: string, from: number, to: number): Promise<void> {
  await sql(
    `insert into responses (parent_surveyid, parent_shortcode, surveyid, shortcode, flowid, userid, question_ref,
       question_idx, question_text, response, timestamp, metadata)
     select form, 'f0', form, 'f0', 1600000000001, $1 || lpad((n / $5)::text, 8, '0'), 'q' || n % $5, n % $5,
       'How do you feel about the way things are going?',
       '#' || $1 || ':' || n || '# Too "much", really. ' || repeat(md5(n::text), 4),
       timestamptz '2026-03-01Z' + (n::bigint * 7919 % $6) * interval '1 ms', '{"wave": 1}'
     from generate_series($3::int, $4::int - 1) n, lateral (select ($2::uuid[])[1 + (n / $5) % cardinality($2::uuid[])] as form) f`,
    [letter, survey.forms.map(({ id }) => id), from, to, QUESTIONS, SPREAD],
  );
}

const timeOf = (n: number) => (n * 7919) % SPREAD;

/** The order of long files: timestamp, then participant and question, both of which follow from the number. */
const isBefore = (one: number, other: number) =>
  timeOf(one) < timeOf(other) || (timeOf(one) === timeOf(other) && one < other);

/** The responses that a file of an account must contain. */
export interface Known {
  readonly letter: string;
  /** All responses with a smaller number were stored before the request. */
  readonly atLeast: number;
  /** No response with this number or a larger one was stored before the end of the response. */
  readonly below: number;
}

/**
 * Checks that a complete file has every response once, in order, and none of another account.
 *
 * @param text JSON or CSV
 */
export function checkRows(text: string, layout: 'long' | 'wide', { letter, atLeast, below }: Known) {
  const problems: string[] = [];
  const seen = new Uint8Array(below);
  let rows = 0;
  let last = -1;
  for (const [, owner, number] of text.matchAll(/#(\w+):(\d+)#/g)) {
    const n = Number(number);
    rows++;
    if (owner !== letter) problems.push(`a response of ${owner}`);
    else if (n >= below) problems.push(`response ${n}, which is not stored yet`);
    else if (seen[n]) problems.push(`response ${n} twice`);
    else if (last >= 0 && !(layout === 'wide' ? last < n : isBefore(last, n))) problems.push(`${last} before ${n}`);
    seen[n] = 1;
    last = n;
  }
  const lost = atLeast - seen.subarray(0, atLeast).reduce((sum, one) => sum + one, 0);
  if (lost > 0) problems.push(`${lost} of ${atLeast} responses lost`);
  return { problems: problems.slice(0, 5), rows, lost };
}
