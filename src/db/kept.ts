import type { LeftOut, LeftOutOptions } from './left-out.ts';
import { RECORD, questionCte } from './questions.ts';
import { type Sql, and, raw, sql } from './sql.ts';

/**
 * Common table expressions: `selected`, the responses of a selection, and `question`: see
 * {@link questionCte}.
 *
 * @param added what to read of each response besides its keys
 */
export const selectedCtes = (responses: Sql, added = raw('')): Sql => sql`
    selected as materialized (
      select ${RECORD}, surveyid, flowid, question_ref, question_idx, timestamp${added}
      from ${responses}
    ), ${questionCte(sql`selected`)}`;

/**
 * SQL for the rows of `selected` that a wide file keeps, with their shortcodes. With `first`, a
 * record's responses to a form are those of the attempt that the first of them belongs to.
 */
export const keptResponses = ({ conditions }: LeftOut, { repeats }: LeftOutOptions): Sql => sql`(
        select *
        from (
          select responses.*, form.shortcode, first_value(flowid) over (
              partition by ${RECORD}, form.shortcode
              order by timestamp, question_ref, surveyid
            ) as first_flow
          from selected responses join form on form.id = surveyid
          where ${and([sql`true`, ...conditions])}
        ) response
        where ${repeats === 'first' ? sql`flowid = first_flow` : sql`true`}
      ) response`;
