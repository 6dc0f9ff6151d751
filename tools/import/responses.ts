import type { Client } from 'pg';
import { type ColumnName, STORED_COLUMNS } from '../../src/responses/columns.ts';
import { CURSOR_COLUMNS } from '../../src/responses/cursor.ts';
import { BadLine, shown } from './bad-line.ts';
import type { Counts } from './forms.ts';
import { columnsOf } from './staging.ts';

/**
 * Refuses responses in `import_responses` that have valid types but cannot be stored.
 *
 * @throws BadLine for a form version that the account does not have, or an `ad_id` that is not that
 * of the metadata (it is not
 * stored)
 */
async function checkResponses(client: Client, account: string, hasAdIds: boolean): Promise<void> {
  // If another session deleted a form version now, its responses would be left out without an
  // error.
  await client.query(
    'select from surveys where userid = $1 and id in (select surveyid from import_responses) order by id for share',
    [account],
  );

  const { rows } = await client.query<{
    line: number;
    surveyid: string;
    ad_id: string | null;
    isUnknown: boolean;
  }>(
    `select line, surveyid, ad_id, form.id is null as "isUnknown"
     from import_responses as file left join surveys as form on form.id = surveyid and form.userid = $1
     where form.id is null or ($2 and ad_id is distinct from file.metadata ->> 'ad_id') order by line limit 1`,
    [account, hasAdIds],
  );

  const [row] = rows;
  if (!row) return;
  if (row.isUnknown)
    throw new BadLine(
      row.line,
      `surveyid: "${row.surveyid}" is neither in the forms file nor stored for this account: is it the forms file of this survey?`,
    );
  throw new BadLine(row.line, `ad_id: ${shown(row.ad_id)} is not the ad_id of the metadata`);
}

const KEY: readonly ColumnName[] = CURSOR_COLUMNS;
const VALUES = STORED_COLUMNS.filter((name) => !KEY.includes(name));

/**
 * Checks the responses of `import_responses`, and stores those that are new or changed; unchanged
 * ones are not written again. Two columns are not exported: a new response gets its form's
 * shortcode, a stored one keeps its own. The seed is that of the metadata where it is an integer;
 * otherwise a stored one stays.
 *
 * @param total number of rows in the table
 * @throws BadLine
 */
export async function storeResponses(
  client: Client,
  account: string,
  total: number,
  hasAdIds: boolean,
): Promise<Counts> {
  await checkResponses(client, account, hasAdIds);
  // Postgres takes the columns of a key for independent, so it expects few matches, and would look
  // up each row with Memoize.
  await client.query(`set local enable_memoize = off; set local work_mem = '64MB'`);
  const { rows } = await client.query<Record<'new' | 'changed', number>>(
    `with written as (
       insert into responses as stored (${STORED_COLUMNS.join(', ')}, shortcode, seed)
       select ${columnsOf('file', STORED_COLUMNS)}, form.shortcode,
         case when file.metadata ->> 'seed' ~ '^-?[0-9]{1,18}$' then (file.metadata ->> 'seed')::bigint end
       from import_responses as file join surveys as form on form.id = surveyid
       where not exists (
         select from responses as old where (${columnsOf('old', KEY)}) = (${columnsOf('file', KEY)})
           -- as text, since 1.0 and 1.00 are equal as jsonb but printed as they were written
           and (${columnsOf('old', VALUES, '::text')}) is not distinct from (${columnsOf('file', VALUES, '::text')})
       )
       on conflict (${KEY.join(', ')}) do update
       set (${VALUES.join(', ')}, seed) = (${columnsOf('excluded', VALUES)}, coalesce(excluded.seed, stored.seed))
       returning xmax = 0 as is_new -- xmax is 0 in rows that were inserted, not in those that were updated
     )
     select count(*) filter (where is_new)::float8 as new, count(*) filter (where not is_new)::float8 as changed from written`,
  );

  const { new: added = 0, changed = 0 } = rows[0] ?? {};
  return { new: added, changed, unchanged: total - added - changed };
}
