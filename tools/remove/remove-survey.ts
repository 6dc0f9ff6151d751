import type { Client } from 'pg';
import { existingAccount, lockAddress } from '../accounts.ts';
import { UserError } from '../command.ts';
import { inTransaction, withConnection } from '../connection.ts';
import { printable, quotedList } from '../keys/printable.ts';

export interface RemovalTarget {
  email: string;
  /** `survey_name` */
  survey: string;
  /** Limits the removal to this participant's responses; the form versions then stay. */
  userid?: string;
}

/** What a removal deletes. */
export type Removal = Awaited<ReturnType<typeof removeSurvey>>;

/**
 * Deletes a survey's responses, form versions and settings, or one participant's responses, in one
 * transaction.
 *
 * @param url `postgres://` URL of the migrated database
 * @param options.isConfirmed if false, the rows are only counted
 * @throws UserError for an account, a survey or a participant that does not exist
 */
export async function removeSurvey(
  url: string,
  { email, survey, userid }: RemovalTarget,
  { isConfirmed }: { isConfirmed: boolean },
) {
  return await withConnection(url, async (client) => {
    const removal = await inTransaction(client, async () => {
      await lockAddress(client, email); // waits for an import
      const account = await existingAccount(client, email);
      const forms = await lockForms(client, account.id, survey);

      const select =
        'from responses where surveyid = any ($1) and ($2::text is null or userid = $2)';
      const { rows } = await client.query<Counts>(`${COUNT} ${select}`, [forms, userid]);
      const counts = rows[0] as Counts;
      if (userid !== undefined && counts.responses === 0)
        throw new UserError(`--userid: "${printable(userid)}" has no responses in this survey`);

      if (isConfirmed) await client.query(`delete ${select}`, [forms, userid]);
      if (isConfirmed && userid === undefined) {
        await client.query('delete from survey_settings where surveyid = any ($1)', [forms]);
        await client.query('delete from surveys where id = any ($1)', [forms]);
      }

      return { ...counts, email: account.email, formVersions: forms.length };
    });

    // Deleted text stays in the files until a vacuum. If this fails, autovacuum does it later.
    if (isConfirmed) await client.query('vacuum (analyze) responses').catch(() => {});
    return removal;
  });
}

/** Times of the first and the last response, in UTC to the second; null without responses. */
type Counts = Record<'responses' | 'participants', number> &
  Record<'first' | 'last', string | null>;

const time = (value: string): string =>
  `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"')`;

const COUNT = `
  select count(*)::float8 as responses, count(distinct userid)::float8 as participants,
    ${time('min(timestamp)')} as first, ${time('max(timestamp)')} as last`;

/**
 * Returns the ids of a survey's form versions, and keeps other sessions from adding responses to
 * them.
 */
async function lockForms(client: Client, account: string, survey: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'select id from surveys where userid = $1 and survey_name = $2 for update',
    [account, survey],
  );

  if (rows.length > 0) return rows.map(({ id }) => id);
  const { rows: others } = await client.query<{ name: string }>(
    'select distinct survey_name collate "C" as name from surveys where userid = $1 order by 1',
    [account],
  );

  const names = quotedList(others.map(({ name }) => name)) || 'none';
  throw new UserError(
    `--survey: there is no survey "${printable(survey)}": the account has ${names}`,
  );
}
