import type { FormVersion, Selection, Survey } from '../responses/selection.ts';
import { splitFilters } from './branches.ts';
import { type Database, SCAN } from './database.ts';
import { BY_PARTICIPANT } from './order.ts';
import { participantId, pseudonym, relationOf } from './relation.ts';
import { type Query, type Sql, Value, and, raw, sql } from './sql.ts';

/**
 * SQL for the participants with responses in a selection of a key that sees pseudonyms: the `id` as
 * stored, the pseudonym, `userid`, the number of `responses`, and that of the responses `walked` to
 * find them in an index. One scan of an index finds them: they are far fewer than the responses,
 * and only they are hashed.
 *
 * @param conditions those that no index holds
 */
function participantsOf(
  selection: Parameters<typeof relationOf>[0],
  secret: string,
  conditions: readonly Sql[] = [],
): Sql {
  const id = raw(participantId(selection.survey));
  const { forms, to } = relationOf(selection);
  const isCounted = conditions.length > 0 && sql` filter (where ${and(conditions)})`;
  return sql`
    with ${forms}, participant as (
      select *, ${pseudonym(sql`id`, secret)} as userid
      from (
        select ${id} as id, count(*)${isCounted} as responses, count(*) as walked
        from form, lateral (
          select ${id}, timestamp, question_ref from ${to(sql`form.id`)}
        ) response
        group by ${id}
      ) counted
      where responses > 0
      offset 0
    )`;
}

/**
 * The first participants of a selection after another, or of all, in the order of their pseudonyms:
 * their ids as stored, and the numbers of {@link participantsOf}.
 */
export function participantsQuery(
  selection: Selection,
  secret: string,
  rows: number,
  after?: string,
): Query {
  const limit = new Value(rows);
  const { inIndex, unindexed } = splitFilters(selection, BY_PARTICIPANT);
  const isAfter = after !== undefined && sql`where userid > ${pseudonym(sql`${after}`, secret)}`;
  const text = sql`${participantsOf(inIndex, secret, unindexed)}
    select id, responses, walked from participant ${isAfter} order by userid limit ${limit}`;
  return { text, width: 3, limit };
}

/**
 * Finds the participants that a filter names.
 *
 * @param formVersions those with their responses; all unless given
 * @param userids as the key sees them
 * @returns the ids as stored, for {@link Selection.userid}
 */
export async function findParticipants(
  db: Database,
  survey: Survey,
  formVersions: readonly FormVersion[] | undefined,
  userids: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  const secret = survey.limits?.secret;
  if (secret === undefined || !userids) return userids;
  const text = sql`${participantsOf({ survey, formVersions }, secret)}
    select id from participant where userid = any(${userids}) order by userid`;
  const rows = await db.rows({ text, width: 1 }, SCAN);
  return (rows as [string][]).map(([id]) => id);
}
