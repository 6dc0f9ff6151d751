import type { Selection } from '../responses/selection.ts';
import { RECORD, questionCte } from './questions.ts';
import { relationOf } from './relation.ts';
import { lacksKey } from './responses.ts';
import { type Sql, and, join, raw, sql } from './sql.ts';

/** The parameters by which a wide file leaves out participants. */
export interface LeftOutOptions {
  readonly repeats?: 'last' | 'first' | 'drop' | undefined;
  readonly require_metadata?: readonly string[] | undefined;
  readonly require_question?: readonly string[] | undefined;
}

/** A rule by which participants are left out, if any of their responses violates it, or if all do. */
interface Rule {
  /** A parameter, and its value if it has several. */
  readonly rule: keyof LeftOutOptions;
  readonly name: string | null;
  readonly aggregate: Sql;
  /** Whether a response violates the rule. */
  readonly violation: Sql;
}

const ANY = raw('bool_or');
const ALL = raw('bool_and');

/** The rules by which participants are left out. */
function rulesOf({
  repeats,
  require_metadata: keys = [],
  require_question: questions = [],
}: LeftOutOptions): Rule[] {
  const ofRepeats: Rule = { rule: 'repeats', name: null, aggregate: ANY, violation: sql`false` };
  return [
    // no single response violates it: attempts are compared by form
    ...(repeats === 'drop' ? [ofRepeats] : []),
    ...keys.map((name): Rule => ({
      rule: 'require_metadata',
      name,
      aggregate: ANY,
      violation: lacksKey(name),
    })),
    ...questions.map((name): Rule => ({
      rule: 'require_question',
      name,
      aggregate: ALL,
      violation: sql`question_ref <> ${name}`,
    })),
  ];
}

/**
 * A common table expression with the participants that violate rules, from a scan of the whole
 * selection. It groups the responses first by form version and participant, which is the order of an
 * index: to sort them otherwise, Postgres would write their metadata to disk.
 */
function leftOutCte(selection: Selection, rules: readonly Rule[]): Sql {
  const responses = relationOf(selection).all();
  const list = (of: (rule: Rule, flag: Sql) => Sql) =>
    join(rules.map((rule, i) => of(rule, raw(`flag_${i}`))));
  const ofVersion = list(
    ({ aggregate, violation }, flag) => sql`${aggregate}(${violation}) as ${flag}`,
  );
  const ofForm = list(({ rule, aggregate }, flag) =>
    rule === 'repeats'
      ? sql`min(first_flow) < max(last_flow) as ${flag}`
      : sql`${aggregate}(${flag}) as ${flag}`,
  );
  const ofParticipant = list(({ aggregate }, flag) => sql`${aggregate}(${flag})`);
  return sql`
    left_out as materialized (
      select userid, violations
      from (
        select userid, array[${ofParticipant}] as violations
        from (
          select userid, ${ofForm}
          from (
            select surveyid, userid, min(flowid) as first_flow, max(flowid) as last_flow,
              ${ofVersion}
            from ${responses}
            group by surveyid, userid
          ) version join form on form.id = surveyid
          group by userid, form.shortcode
        ) form
        group by userid
      ) participant
      where true = any (violations)
    )`;
}

/**
 * SQL for leaving out the participants of a selection whom a wide file leaves out:
 *
 * - `ctes`: common table expressions, on `form` (see relation.ts): `left_out`, or none
 * - `conditions` on responses that their participants are not left out
 * - `count`: how many participants are left out
 * - `byRule`: JSON, for the rules that leave out anybody, by their number from 1: how many
 *   participants they leave out, and the first 100 of them
 */
export function leftOut(selection: Selection, options: LeftOutOptions) {
  const rules = rulesOf(options);
  if (rules.length === 0)
    return { rules, ctes: [], conditions: [], count: sql`0`, byRule: sql`null` };

  return {
    rules,
    ctes: [leftOutCte(selection, rules)],
    // Postgres expects several elements in an array, and hashes them. If it expected a single row
    // of `left_out`, it would compare each response with all of its rows.
    conditions: [
      sql`not exists (
        select from unnest(array(select userid from left_out)) one (id)
        where one.id = responses.userid
      )`,
    ],
    count: sql`(select count(*) from left_out)`,
    byRule: sql`(
      select json_object_agg(i, json_build_array(participants, userids[1:100]))
      from (
        select i, count(*) as participants, array_agg(userid order by userid) as userids
        from left_out, unnest(violations) with ordinality rule (is_violated, i)
        where is_violated
        group by i
      ) rule
    )`,
  };
}

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
 *
 * @param conditions see {@link leftOut}
 */
export const keptResponses = (conditions: readonly Sql[], { repeats }: LeftOutOptions): Sql => sql`(
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
