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
export interface Rule {
  readonly rule: keyof LeftOutOptions;
  readonly name: string | null;
}

/** SQL for leaving out the participants of a selection whom a wide file leaves out. */
export interface LeftOut {
  readonly rules: readonly Rule[];
  /** Common table expressions, on `form` (see relation.ts): `left_out`, or none if there are no rules. */
  readonly ctes: readonly Sql[];
  /** The conditions that a response's participant is kept. */
  readonly isKept: readonly Sql[];
  /** How many participants are left out. */
  readonly count: Sql;
  /** JSON: for the rules that leave out anybody, their number from 1, how many participants they leave out, and the first of them. */
  readonly byRule: Sql;
}

/** How many participants are listed for a rule. */
const MAX_LISTED = 100;

/**
 * Finds those participants with a scan of the whole selection, first by form version, in the order of an index: to sort the
 * responses would write their metadata to disk.
 */
export function leftOut(
  selection: Selection,
  { repeats, require_metadata: keys = [], require_question: questions = [] }: LeftOutOptions,
): LeftOut {
  const rules: (Rule & {
    /** What a response, a form version, or a form can have of it. */
    readonly ofResponse: Sql;
    readonly ofForm?: Sql;
    /** Whether it is fulfilled by having this, rather than broken. */
    readonly isRequired?: boolean;
  })[] = [
    ...(repeats === 'drop'
      ? [
          {
            rule: 'repeats',
            name: null,
            ofResponse: sql`false`,
            ofForm: sql`min(first_flow) < max(last_flow)`,
          } as const,
        ]
      : []),
    ...keys.map((name) => ({ rule: 'require_metadata', name, ofResponse: lacksKey(name) }) as const),
    ...questions.map(
      (name) =>
        ({ rule: 'require_question', name, ofResponse: sql`question_ref = ${name}`, isRequired: true }) as const,
    ),
  ];
  if (rules.length === 0) return { rules, ctes: [], isKept: [], count: sql`0`, byRule: sql`null` };
  const flags = rules.map((_, i) => raw(`flag_${i}`));
  const each = (of: (rule: (typeof rules)[number], flag: Sql) => Sql) =>
    join(
      rules.map((rule, i) => of(rule, flags[i] as Sql)),
      ', ',
    );
  const cte = sql`
    left_out as materialized (
      select userid, broken
      from (
        select userid, array[${each(({ isRequired }, flag) => sql`${isRequired ? sql`not ` : sql``}bool_or(${flag})`)}] as broken
        from (
          select userid, ${each(({ ofForm }, flag) => sql`${ofForm ?? sql`bool_or(${flag})`} as ${flag}`)}
          from (
            select surveyid, userid, min(flowid) as first_flow, max(flowid) as last_flow,
              ${each(({ ofResponse }, flag) => sql`bool_or(${ofResponse}) as ${flag}`)}
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
    rules: rules.map(({ rule, name }) => ({ rule, name })),
    ctes: [cte],
    // Of an array, Postgres never expects a single element, for which it would compare each response with all.
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
