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
interface LeftOut {
  readonly rules: readonly Rule[];
  /**
   * Common table expressions, on `form` (see relation.ts): `left_out`, or none if there are no
   * rules.
   */
  readonly ctes: readonly Sql[];
  /** The conditions that a response's participant is kept. */
  readonly isKept: readonly Sql[];
  /** How many participants are left out. */
  readonly count: Sql;
  /**
   * JSON: for the rules that leave out anybody, their number from 1, how many participants they
   * leave out, and the first of them.
   */
  readonly byRule: Sql;
}

/**
 * How a rule is checked: what a response can have that breaks it, or, if a question is required,
 * keeps it; or else a form.
 */
interface Flag extends Rule {
  readonly ofResponse?: Sql;
  readonly ofForm?: Sql;
}

/** How many participants are listed for a rule. */
const MAX_LISTED = 100;

/**
 * Finds those participants with a scan of the whole selection, first by form version, in the order
 * of an index: to sort the responses would write their metadata to disk.
 */
export function leftOut(
  selection: Selection,
  { repeats, require_metadata: keys = [], require_question: questions = [] }: LeftOutOptions,
): LeftOut {
  const attempts: Flag = {
    rule: 'repeats',
    name: null,
    ofForm: sql`min(first_flow) < max(last_flow)`,
  };
  const lacks = (name: string): Flag => ({
    rule: 'require_metadata',
    name,
    ofResponse: lacksKey(name),
  });
  const asks = (name: string): Flag => ({
    rule: 'require_question',
    name,
    ofResponse: sql`question_ref = ${name}`,
  });
  const rules = [
    ...(repeats === 'drop' ? [attempts] : []),
    ...keys.map(lacks),
    ...questions.map(asks),
  ];
  if (rules.length === 0) return { rules, ctes: [], isKept: [], count: sql`0`, byRule: sql`null` };
  const each = (of: (rule: Flag, flag: Sql) => Sql) =>
    join(rules.map((rule, i) => of(rule, raw(`flag_${i}`))));
  const cte = sql`
    left_out as materialized (
      select userid, broken
      from (
        select userid, array[${each(({ rule }, flag) => sql`${rule === 'require_question' ? sql`not ` : sql``}bool_or(${flag})`)}] as broken
        from (
          select userid, ${each(({ ofForm }, flag) => sql`${ofForm ?? sql`bool_or(${flag})`} as ${flag}`)}
          from (
            select surveyid, userid, min(flowid) as first_flow, max(flowid) as last_flow,
              ${each(({ ofResponse = sql`false` }, flag) => sql`bool_or(${ofResponse}) as ${flag}`)}
            from ${relationOf(selection).all(filterConditions(selection))}
            group by surveyid, userid
          ) version join form on form.id = surveyid
          group by userid, form.shortcode
        ) form
        group by userid
      ) participant
      where true = any (broken)
    )`;
  return {
    rules,
    ctes: [cte],
    // Of an array, Postgres never expects a single element, for which it would compare each
    // response with all.
    isKept: [
      sql`not exists (select from unnest(array(select userid from left_out)) one (id) where one.id = responses.userid)`,
    ],
    count: sql`(select count(*) from left_out)`,
    byRule: sql`(
      select json_agg(json_build_array(i, participants, userids[1:${raw(String(MAX_LISTED))}]))
      from (
        select i, count(*) as participants, array_agg(userid order by userid) as userids
        from left_out, unnest(broken) with ordinality rule (is_broken, i)
        where is_broken
        group by i
      ) rule
    )`,
  };
}
