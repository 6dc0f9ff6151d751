import { labelOf } from './choices.ts';
import { naiveCsv } from './csv.ts';
import { type TestSurvey, iso, sql } from './data.ts';

const FIXED = ['userid', 'parent_surveyid', 'parent_shortcode', 'flowid', 'started', 'ended', 'attempts', 'metadata'];

/** The parameters of the wide layout. */
export interface WideParameters {
  readonly value?: 'response' | 'translated' | 'label' | undefined;
  readonly repeats?: 'last' | 'first' | 'drop' | undefined;
  readonly columns?: 'form_question' | 'question' | undefined;
  readonly metadata?: readonly string[] | undefined;
  readonly require_metadata?: readonly string[] | undefined;
}

/** SQL for the last of a record's values. */
const last = (value: string) => `(array_agg(${value} order by n))[count(*)]`;

const RECORD = 'userid, parent_surveyid, parent_shortcode';

/**
 * The expected wide file of a survey, byte for byte: grouped by Postgres.
 *
 * @param where condition on the responses `r` and their form versions `s`
 */
export async function wideCsv(survey: TestSurvey, where = 'true', parameters: WideParameters = {}): Promise<string> {
  const { value, repeats = 'last', columns: by, metadata = [], require_metadata: required = [] } = parameters;
  const ids = survey.forms.map(({ id }) => id);
  const selected = `
    select r.*, r.timestamp as time, ${value === 'translated' ? 'coalesce(r.translated_response, r.response)' : 'r.response'} as answer,
      s.shortcode as form,
      ${by === 'question' ? `''` : `s.shortcode || ':'`} || encode(convert_to(r.question_ref, 'UTF8'), 'hex') as question,
      row_number() over (order by r.timestamp, r.question_ref, r.surveyid) as n
    from responses r join surveys s on s.id = r.surveyid where r.surveyid = any($1::uuid[]) and (${where})`;
  const columns = await sql<{ question: string; name: string }>(
    `select question, ${by === 'question' ? 'question_ref' : `form || '.' || question_ref`} as name
     from (
       select distinct on (question) * from (
         select question, form, question_ref, row_number() over (
           order by (select min(to_char(v.created at time zone 'UTC', 'YYYYMMDDHH24MISSUS') || v.id::text collate "C")
               from surveys v where v.id = any($1::uuid[]) and v.shortcode = form),
             min(question_idx), question_ref collate "C") as position
         from (${selected}) r group by question, form, question_ref
       ) q order by question, position
     ) q order by position`,
    [ids],
  );
  const leftOut = [`select userid from selected, unnest($2::text[]) key where metadata->>key is null`];
  if (repeats === 'drop') {
    leftOut.push('select userid from selected group by userid, form having count(distinct flowid) > 1');
  }
  const records = await sql<{
    before: (string | null)[];
    attempts: string;
    after: (string | null)[];
    answers: Record<string, [answer: string, questionText: string]>;
  }>(
    `with selected as (${selected}),
     counted as (
       select *, first_value(flowid) over (partition by ${RECORD}, form order by n) as first_flow from selected
       where userid not in (${leftOut.join(' union all ')})
     )
     select array[userid, parent_surveyid::text, parent_shortcode, ${last('flowid::text')},
         ${iso('min(time)')}, ${iso('max(time)')}] as before,
       (select max(flows) from (
         select count(distinct flowid) as flows from counted c
         where (c.userid, c.parent_shortcode) = (k.userid, k.parent_shortcode) and c.parent_surveyid is not distinct from k.parent_surveyid
         group by form
       ) f)::text as attempts,
       array[${[`metadata`, ...metadata.map((_, i) => `metadata->>($3::text[])[${i + 1}]`)].map((m) => last(`(${m})::text`)).join(', ')}] as after,
       jsonb_object_agg(question, array[answer, question_text] order by n) as answers
     from counted k ${repeats === 'first' ? 'where flowid = first_flow' : ''}
     group by ${RECORD}
     order by userid, min(n)`,
    metadata.length > 0 ? [ids, required, metadata] : [ids, required],
  );
  return naiveCsv([
    [...FIXED, ...metadata.map((key) => `metadata.${key}`), ...columns.map(({ name }) => name)],
    ...records.map(({ before, attempts, after, answers }) =>
      before.concat(
        attempts,
        after,
        columns.map(({ question }) => {
          const [answer, questionText] = answers[question] ?? [null, ''];
          return answer !== null && value === 'label' ? labelOf(answer, questionText) : answer;
        }),
      ),
    ),
  ]);
}
