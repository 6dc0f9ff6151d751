import type { LeftOut, LeftOutOptions } from './left-out.ts';
import { RECORD } from './questions.ts';
import { type Sql, and, sql } from './sql.ts';

/**
 * SQL for the responses that a wide file keeps, with their shortcodes, on `form` (see relation.ts)
 * and `selected`: the responses of a selection, with the columns of a record, `surveyid`, `flowid`,
 * `question_ref` and `timestamp`.
 *
 * With `first`, these are the responses of the attempt that a record's first response to a form
 * belongs to.
 */
export function keptResponses({ conditions }: LeftOut, { repeats }: LeftOutOptions): Sql {
  const isFirst = repeats === 'first';
  const firstFlow = sql`,
            first_value(flowid) over (
              partition by ${RECORD}, shortcode
              order by timestamp, question_ref, surveyid
            ) as first_flow`;

  return sql`(
        select *
        from (
          select responses.*, form.shortcode${isFirst ? firstFlow : sql``}
          from selected responses join form on form.id = surveyid
          where ${and([sql`true`, ...conditions])}
        ) response
        where ${isFirst ? sql`flowid = first_flow` : sql`true`}
      )`;
}
