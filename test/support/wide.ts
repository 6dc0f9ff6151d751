import { naiveCsv } from './csv.ts';
import { type TestSurvey, sql } from './data.ts';

const FIXED = ['userid', 'parent_surveyid', 'parent_shortcode', 'flowid', 'started', 'ended', 'metadata'];

/** SQL for the API's timestamps. */
const iso = (column: string) =>
  String.raw`regexp_replace(to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '(\.\d{3})000$', '\1') || 'Z'`;

/**
 * The expected wide file of a survey, byte for byte: grouped by Postgres.
 *
 * @param where condition on the responses `r` and their form versions `s`
 */
export async function wideCsv(survey: TestSurvey, where = 'true'): Promise<string> {
  const ids = [survey.forms.map(({ id }) => id)];
  const answers = `
    select r.userid, r.parent_surveyid, r.parent_shortcode, r.surveyid, r.flowid, r.metadata, r.timestamp as time,
      r.question_ref, r.question_idx, r.response, s.shortcode,
      s.shortcode || ':' || encode(convert_to(r.question_ref, 'UTF8'), 'hex') as question
    from responses r join surveys s on s.id = r.surveyid where r.surveyid = any($1::uuid[]) and (${where})`;
  const columns = await sql<{ question: string; name: string }>(
    `select question, shortcode || '.' || question_ref as name from (${answers}) a
     group by question, shortcode, question_ref
     order by (select min(to_char(v.created at time zone 'UTC', 'YYYYMMDDHH24MISSUS') || v.id::text collate "C")
         from surveys v where v.id = any($1::uuid[]) and v.shortcode = a.shortcode),
       min(question_idx), question_ref collate "C"`,
    ids,
  );
  const records = await sql<{ fixed: (string | null)[]; answers: Record<string, string> }>(
    `select array[userid, parent_surveyid::text, parent_shortcode, (array_agg(flowid::text order by n))[count(*)],
         ${iso('min(time)')}, ${iso('max(time)')}, (array_agg(metadata::text order by n))[count(*)]] as fixed,
       jsonb_object_agg(question, response order by n) as answers
     from (select *, row_number() over (order by time, question_ref, surveyid) as n from (${answers}) a) a
     group by userid, parent_surveyid, parent_shortcode
     order by userid, min(n)`,
    ids,
  );
  return naiveCsv([
    [...FIXED, ...columns.map(({ name }) => name)],
    ...records.map((record) => record.fixed.concat(columns.map(({ question }) => record.answers[question] ?? null))),
  ]);
}
