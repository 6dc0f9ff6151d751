import { naiveCsv } from './csv.ts';
import { type TestSurvey, iso, sql } from './data.ts';

const FIXED = ['userid', 'parent_surveyid', 'parent_shortcode', 'flowid', 'started', 'ended', 'attempts', 'metadata'];

/** SQL for the last of a record's values. */
const last = (value: string) => `(array_agg(${value} order by n))[count(*)]`;

const RECORD = 'userid, parent_surveyid, parent_shortcode';

/**
 * The expected wide file of a survey without parameters, byte for byte: grouped by Postgres.
 *
 * @param where condition on the responses `r` and their form versions `s`
 */
export async function wideCsv(survey: TestSurvey, where = 'true'): Promise<string> {
  const ids = survey.forms.map(({ id }) => id);
  const selected = `
    select r.*, r.timestamp as time, s.shortcode as form,
      s.shortcode || ':' || encode(convert_to(r.question_ref, 'UTF8'), 'hex') as question,
      row_number() over (order by r.timestamp, r.question_ref, r.surveyid) as n
    from responses r join surveys s on s.id = r.surveyid where r.surveyid = any($1::uuid[]) and (${where})`;
  const columns = await sql<{ question: string; name: string }>(
    `select question, form || '.' || question_ref as name
     from (${selected}) r group by question, form, question_ref
     order by (select min(to_char(v.created at time zone 'UTC', 'YYYYMMDDHH24MISSUS') || v.id::text collate "C")
         from surveys v where v.id = any($1::uuid[]) and v.shortcode = form),
       min(question_idx), question_ref collate "C"`,
    [ids],
  );
  const records = await sql<{ cells: (string | null)[]; answers: Record<string, string> }>(
    `with selected as (${selected})
     select array[userid, parent_surveyid::text, parent_shortcode, ${last('flowid::text')},
         ${iso('min(time)')}, ${iso('max(time)')},
         (select max(flows) from (
           select count(distinct flowid) as flows from selected c
           where (c.userid, c.parent_shortcode) = (k.userid, k.parent_shortcode) and c.parent_surveyid is not distinct from k.parent_surveyid
           group by form
         ) f)::text, ${last('metadata::text')}] as cells,
       jsonb_object_agg(question, response order by n) as answers
     from selected k
     group by ${RECORD}
     order by userid, min(n)`,
    [ids],
  );
  return naiveCsv([
    [...FIXED, ...columns.map(({ name }) => name)],
    ...records.map(({ cells, answers }) => cells.concat(columns.map(({ question }) => answers[question] ?? null))),
  ]);
}
