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
  target: RemovalTarget,
  options: { isConfirmed: boolean },
) {
  return await withConnection(url, async (client) => {
    const removal = await inTransaction(client, async () => {
      await lockAddress(client, target.email); // waits for an import
      const account = await existingAccount(client, target.email);
      const forms = await lockForms(client, account.id, target.survey);
      const counts = await countResponses(client, forms, target.userid);
      if (target.userid !== undefined && counts.responses === 0)
        throw new UserError(
          `--userid: "${printable(target.userid)}" has no responses in this survey`,
        );
      if (options.isConfirmed) await deleteRows(client, forms, target.userid);
      return { ...counts, email: account.email, formVersions: forms.length };
    });

    // Deleted text stays in the files until a vacuum. If this fails, autovacuum does it later.
    if (options.isConfirmed) await client.query('vacuum (analyze) responses').catch(() => {});
    return removal;
  });
}

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

/** Times of the first and the last response, in UTC to the second; null without responses. */
type Counts = Record<'responses' | 'participants', number> &
  Record<'first' | 'last', string | null>;

async function countResponses(
  client: Client,
  forms: string[],
  userid: string | undefined,
): Promise<Counts> {
  const time = (value: string): string =>
    `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"')`;
  const { rows } = await client.query<Counts>(
    `select count(*)::float8 as responses, count(distinct userid)::float8 as participants,
       ${time('min(timestamp)')} as first, ${time('max(timestamp)')} as last
     from responses where surveyid = any ($1) and ($2::text is null or userid = $2)`,
    [forms, userid],
  );

  return rows[0] as Counts;
}

async function deleteRows(
  client: Client,
  forms: string[],
  userid: string | undefined,
): Promise<void> {
  await client.query(
    'delete from responses where surveyid = any ($1) and ($2::text is null or userid = $2)',
    [forms, userid],
  );

  if (userid !== undefined) return;
  await client.query('delete from survey_settings where surveyid = any ($1)', [forms]);
  await client.query('delete from surveys where id = any ($1)', [forms]);
}
