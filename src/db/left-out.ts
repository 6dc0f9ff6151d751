import type { Selection } from '../responses/selection.ts';
import { filterConditions, relationOf } from './relation.ts';
import { lacksKey } from './responses.ts';
import { type Sql, join, raw, sql } from './sql.ts';

/** The parameters by which a wide file leaves out participants. */
export interface LeftOutOptions {
  readonly repeats?: 'last' | 'first' | 'drop' | undefined;
  readonly require_metadata?: readonly string[] | undefined;
  readonly require_question?: readonly string[] | undefined;
}

/** A rule by which participants are left out: a parameter, and its value if it has several. */
interface Rule {
  readonly rule: keyof LeftOutOptions;
  readonly name: string | null;
}

/** SQL for leaving out the participants of a selection whom a wide file leaves out. */
export interface LeftOut {
  readonly rules: readonly Rule[];
  /**
   * Common table expressions, on `form` (see relation.ts): `left_out`, or none if there are no
   * rules.
   */
  readonly ctes: readonly Sql[];
  /** The conditions on responses that their participants are not left out. */
  readonly conditions: readonly Sql[];
  /** How many participants are left out. */
  readonly count: Sql;
  /**
   * JSON: for the rules that leave out anybody, their number from 1, how many participants they
   * leave out, and the first of them.
   */
  readonly byRule: Sql;
}

/** A rule in SQL. It leaves out a participant if any response violates it, or if all do. */
interface Check extends Rule {
  readonly aggregate: Sql;
  /** Whether a response violates the rule. */
  readonly violation: Sql;
}

const ANY = raw('bool_or');
const ALL = raw('bool_and');

/** How many participants are listed for a rule. */
const MAX_LISTED = 100;

const check = (rule: Rule['rule'], name: string | null, aggregate: Sql, violation: Sql): Check => ({
  rule,
  name,
  aggregate,
  violation,
});

/** The rules by which participants are left out. */
function rulesOf({
  repeats,
  require_metadata: keys = [],
  require_question: questions = [],
}: LeftOutOptions): Check[] {
  return [
    // no single response violates it: attempts are compared by form
    ...(repeats === 'drop' ? [check('repeats', null, ANY, sql`false`)] : []),
    ...keys.map((name) => check('require_metadata', name, ANY, lacksKey(name))),
    ...questions.map((name) => check('require_question', name, ALL, sql`question_ref <> ${name}`)),
  ];
}

/**
 * A common table expression with the participants that violate rules, from a scan of the whole
 * selection. It groups the responses first by form version and participant, which is the order of an
 * index: to sort them otherwise, Postgres would write their metadata to disk.
 */
function leftOutCte(selection: Selection, rules: readonly Check[]): Sql {
  const responses = relationOf(selection).all(filterConditions(selection));
  const list = (of: (rule: Check, flag: Sql) => Sql) =>
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

/** Finds the participants to leave out. */
export function leftOut(selection: Selection, options: LeftOutOptions): LeftOut {
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
      select json_agg(json_build_array(i, participants, userids[1:${raw(String(MAX_LISTED))}]))
      from (
        select i, count(*) as participants, array_agg(userid order by userid) as userids
        from left_out, unnest(violations) with ordinality rule (is_violated, i)
        where is_violated
        group by i
      ) rule
    )`,
  };
}
