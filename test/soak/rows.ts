import { type TestSurvey, sql } from '../support/data.ts';

/*
 * The soak's responses: number n of an account says in its text whose it is and which, and all else about it follows from n.
 * So a file can be held against what was stored without asking the database for it again.
 */

const QUESTIONS = 6;
/** Times are spread over this many milliseconds, out of order: what arrives lands anywhere in a file. */
const SPREAD = 1_000_003;

/** Stores the responses from one number to before another. @param owner a letter that names the account */
export async function insertRows(survey: TestSurvey, owner: string, from: number, to: number): Promise<void> {
  await sql(
    `insert into responses (parent_surveyid, parent_shortcode, surveyid, shortcode, flowid, userid, question_ref,
       question_idx, question_text, response, timestamp, metadata)
     select form, 'f0', form, 'f0', 1600000000001, $1 || lpad((n / $5)::text, 8, '0'), 'q' || n % $5, n % $5,
       'How do you feel about the way things are going?',
       '#' || $1 || ':' || n || '# Too "much", really. ' || repeat(md5(n::text), 4),
       timestamptz '2026-03-01Z' + (n::bigint * 7919 % $6) * interval '1 ms', '{"wave": 1}'
     from generate_series($3::int, $4::int - 1) n, lateral (select ($2::uuid[])[1 + (n / $5) % cardinality($2::uuid[])] as form) f`,
    [owner, survey.forms.map(({ id }) => id), from, to, QUESTIONS, SPREAD],
  );
}

const timeOf = (n: number) => (n * 7919) % SPREAD;

/** Whether a response stands before another in the order of time, then participant, then question. */
export const isBefore = (one: number, other: number) =>
  timeOf(one) < timeOf(other) || (timeOf(one) === timeOf(other) && one < other);

/** What a reader could know of an account's responses when it looked. */
export interface Known {
  readonly owner: string;
  /** All with a smaller number were stored before. */
  readonly atLeast: number;
  /** None with this number or a larger one can be stored yet. */
  readonly below: number;
}

/**
 * @param text a file that came whole; in JSON, CSV or the wide layout
 * @returns what is wrong with it, if anything is, and how many responses it has
 */
export function inspect(text: string, layout: 'long' | 'wide', { owner, atLeast, below }: Known) {
  const problems: string[] = [];
  const seen = new Uint8Array(below);
  let rows = 0;
  let last = -1;
  for (const [, whose, number] of text.matchAll(/#(\w+):(\d+)#/g)) {
    const n = Number(number);
    rows++;
    if (whose !== owner) problems.push(`a response of ${whose}`);
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
