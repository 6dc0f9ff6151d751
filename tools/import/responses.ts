import type { Client } from 'pg';
import { BadLine, shown } from './bad-line.ts';
import type { Counts } from './forms.ts';

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
  const adId = row.ad_id === null ? 'null' : shown(row.ad_id);
  throw new BadLine(row.line, `ad_id: ${adId} is not the ad_id of the metadata`);
}

/**
 * Creates the temporary table `import_stored`: the lines of `import_responses` that are stored
 * already, and whether all their values are the same.
 */
async function compareWithStored(client: Client): Promise<Omit<Counts, 'new'>> {
  // Postgres takes the columns of a key for independent, so it expects few matches, and would look
  // up each row with Memoize.
  await client.query(`set local enable_memoize = off; set local work_mem = '64MB'`);
  await client.query(
    `create temporary table import_stored on commit drop as
     select line,
       -- metadata as text, since 1.0 and 1.00 are equal as jsonb but printed as they were written
       (stored.parent_surveyid, stored.parent_shortcode, stored.flowid, stored.question_idx, stored.question_text,
           stored.response, stored.metadata::text, stored.pageid, stored.translated_response)
         is not distinct from (file.parent_surveyid, file.parent_shortcode, file.flowid, file.question_idx, file.question_text,
           file.response, file.metadata::text, file.pageid, file.translated_response) as is_unchanged
     from import_responses as file join responses as stored using (surveyid, timestamp, userid, question_ref)`,
  );

  await client.query('analyze import_stored');
  const { rows } = await client.query(
    `select count(*) filter (where not is_unchanged)::float8 as changed, count(*) filter (where is_unchanged)::float8 as unchanged
     from import_stored`,
  );

  return rows[0] as Omit<Counts, 'new'>;
}

/**
 * Checks the responses of `import_responses`, and stores those that are new or changed; unchanged
 * ones are not written again. Two columns are not exported: a new response gets its form's
 * shortcode, a stored one keeps its own. The seed is that of the metadata where it is an integer;
 * otherwise a stored one stays.
 *
 * @param total number of rows in the table
 * @param enter called with what is being done
 * @throws BadLine
 */
export async function storeResponses(
  client: Client,
  account: string,
  total: number,
  { hasAdIds, enter }: { hasAdIds: boolean; enter?: (phase: string) => void },
): Promise<Counts> {
  await checkResponses(client, account, hasAdIds);
  enter?.('comparing');
  const { changed, unchanged } = await compareWithStored(client);
  enter?.('writing');
  await client.query(
    `insert into responses as stored (parent_surveyid, parent_shortcode, surveyid, shortcode, flowid, userid, question_ref,
       question_idx, question_text, response, seed, timestamp, metadata, pageid, translated_response)
     select parent_surveyid, parent_shortcode, surveyid, form.shortcode, flowid, file.userid, question_ref,
       question_idx, question_text, response,
       case when file.metadata ->> 'seed' ~ '^-?[0-9]{1,18}$' then (file.metadata ->> 'seed')::bigint end,
       timestamp, file.metadata, pageid, translated_response
     from import_responses as file join surveys as form on form.id = surveyid
     where not exists (select from import_stored where import_stored.line = file.line and is_unchanged)
     on conflict (surveyid, timestamp, userid, question_ref) do update
     set (parent_surveyid, parent_shortcode, flowid, question_idx, question_text, response, seed, metadata, pageid,
         translated_response)
       = (excluded.parent_surveyid, excluded.parent_shortcode, excluded.flowid, excluded.question_idx,
         excluded.question_text, excluded.response, coalesce(excluded.seed, stored.seed), excluded.metadata, excluded.pageid,
         excluded.translated_response)`,
  );

  return { new: total - changed - unchanged, changed, unchanged };
}
