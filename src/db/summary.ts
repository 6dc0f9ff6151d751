import type { Selection } from '../responses/selection.ts';
import { type Database, SCAN } from './database.ts';
import { type LeftOutOptions, keptResponses, leftOut, selectedCtes } from './left-out.ts';
import { FORM_POSITION, QUESTION_ORDER } from './questions.ts';
import { relationOf } from './relation.ts';
import { type Query, type Sql, isoTimestamp, join, sql } from './sql.ts';

export type Summary = Awaited<ReturnType<typeof summarize>>;

interface SummaryOptions extends LeftOutOptions {
  /** Adds how many participants have their last response to each question. */
  readonly stops?: boolean;
}

/**
 * Counts the responses and participants of a selection, in the first row, and of each of its days,
 * in the others. The first row also has the numbers of each form, those of each rule by which
 * participants are left out, and those of `stops`, as JSON.
 *
 * The query reads only the index, once: a participant counts once a day and form, and these are far
 * fewer than the responses. It reads in the order of time, which is that of the table: until a
 * vacuum, Postgres looks up every row there. To find the participants to leave out, if any can be,
 * takes another scan, and so do `stops`, of the table.
 *
 * The time zone is set for this statement, in a condition that Postgres evaluates before the scan.
 * `at time zone` would read some names, such as `CET`, as abbreviations without daylight-saving
 * time.
 *
 * Responses are of the years 1 to 9999 in UTC. What another zone has on the day before or after
 * counts on the first or last day of these years, because other years are no dates of RFC 3339 or
 * of most languages.
 *
 * @param timeZone a name in `pg_timezone_names`
 */
export function summaryQuery(
  selection: Selection,
  timeZone: string,
  options: SummaryOptions = {},
): Query {
  const responses = relationOf(selection);
  const leaving = leftOut(selection, options);
  const added = options.stops ? [stopsCte(responses.all(), leaving.conditions, options)] : [];
  const ctes = join([responses.forms, ...leaving.ctes, FORM_POSITION, ...added]);
  const ofForm = responses.to(
    sql`form_position.id`,
    sql`(select set_config('timezone', ${timeZone}, true)) is not null`,
    ...leaving.conditions,
  );
  const text = sql`
    with ${ctes}, answered as materialized (
      select greatest(least(timestamp::date, '9999-12-31'), '0001-01-01') as day, position, userid,
        count(*) as responses, min(timestamp) as first, max(timestamp) as last
      from form_position, lateral (
        select timestamp, userid from ${ofForm} order by timestamp offset 0
      ) response
      group by 1, 2, 3
    ), form_count as (
      select (
          select min(shortcode)
          from form_position
          where form_position.position = participant.position
        ) as shortcode, sum(responses) as responses, count(*) as participants, position
      from (
        select position, userid, sum(responses) as responses from answered group by position, userid
      ) participant
      group by position
    )
    select to_char(day, 'YYYY-MM-DD'), responses, participants,
      ${isoTimestamp('first')}, ${isoTimestamp('last')}, left_out, forms, rules, stops
    from (
      select null::date as day, coalesce(sum(responses), 0) as responses,
        (select count(*) from (select from answered group by userid) participant) as participants,
        min(first) as first, max(last) as last, ${leaving.count} as left_out,
        (
          select json_agg(json_build_object(
              'shortcode', shortcode, 'responses', responses, 'participants', participants
            ) order by position)
          from form_count
        )::text as forms, ${leaving.byRule}::text as rules,
        ${options.stops ? sql`(select stops from stops)` : sql`null`} as stops
      from answered
      union all
      select day, sum(responses), count(*), null, null, null, null, null, null
      from (
        select day, userid, sum(responses) as responses from answered group by day, userid
      ) participant
      group by day
    ) counts
    order by day nulls first`;

  return { text, width: 9 };
}

/** Common table expressions: `stops`, as JSON, and what it needs of `responses`. */
const stopsCte = (responses: Sql, conditions: readonly Sql[], options: SummaryOptions) =>
  sql`${selectedCtes(responses)}, stops as (
      select json_agg(json_build_object(
          'shortcode', shortcode, 'question_ref', question_ref, 'participants', coalesce(n, 0)
        ) order by ${QUESTION_ORDER})::text as stops
      from question full join (
        select shortcode, question_ref, count(*) as n
        from (
          select distinct on (userid) shortcode, question_ref
          from ${keptResponses(conditions, options)}
          order by userid, timestamp desc, question_ref desc, surveyid desc
        ) last
        group by shortcode, question_ref
      ) stop using (shortcode, question_ref)
    )`;

/**
 * Runs {@link summaryQuery}.
 *
 * @returns what `/responses/summary` returns: days in ascending order, without those that have no
 * responses
 * @throws DatabaseError `too-large` if the result has too many days
 */
export async function summarize(
  db: Database,
  selection: Selection,
  timeZone: string,
  options: SummaryOptions,
) {
  const query = summaryQuery(selection, timeZone, options);
  const [total = [], ...days] = await db.rows(query, SCAN);
  const [, responses, participants, first, last, left, forms, byRules, stops] = total;
  const leftOutBy = JSON.parse(byRules ?? '{}') as Record<string, [number, string[]]>;
  const { rules } = leftOut(selection, options);

  return {
    responses: Number(responses),
    participants: Number(participants),
    first,
    last,
    days: days.map(([day, ofDay, participantsOfDay]) => ({
      day,
      responses: Number(ofDay),
      participants: Number(participantsOfDay),
    })),
    left_out: Number(left),
    forms: JSON.parse(forms ?? '[]') as unknown,
    left_out_by: rules.map(({ rule, name }, i) => {
      const [byRule, userids] = leftOutBy[i + 1] ?? [0, []];
      return { rule, name, participants: byRule, userids };
    }),
    ...(options.stops && { stops: JSON.parse(stops ?? '[]') as unknown }),
  };
}

/**
 * Whether the database has a time zone of exactly this name. Reads all its zones, which takes some
 * 10 ms.
 */
export async function isTimeZone(db: Database, name: string): Promise<boolean> {
  const text = sql`select name from pg_timezone_names where name = ${name}`;
  return (await db.rows({ text, width: 1 })).length > 0;
}
