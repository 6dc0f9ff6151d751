import type { Client } from 'pg';
import { BadLine, shown } from './bad-line.ts';
import type { Counts } from './summary.ts';

/**
 * Refuses responses in `import_responses` that have valid types but cannot be stored.
 *
 * @throws BadLine for a form version that the account does not have, an `ad_id` that is not that of the metadata (it is
 *   not stored), or a time outside the years 1 to 9999, which RFC 3339 cannot express
 */
export async function checkResponses(client: Client, account: string): Promise<void> {
  const { rows } = await client.query<{
    line: number;
    isUnknown: boolean;
    isWrongAd: boolean;
    surveyid: string;
    ad_id: string | null;
  }>(
    `select line, "isUnknown", "isWrongAd", surveyid, ad_id
     from (
       select file.*, form.id is null as "isUnknown", ad_id is distinct from file.metadata ->> 'ad_id' as "isWrongAd"
       from import_responses as file left join surveys as form on form.id = surveyid and form.userid = $1
     ) as checked
     where "isUnknown" or "isWrongAd" or timestamp < '0001-01-01Z' or timestamp >= '10000-01-01Z'
     order by line limit 1`,
    [account],
  );
  const [row] = rows;
  if (!row) return;
  if (row.isUnknown)
    throw new BadLine(row.line, `surveyid: "${row.surveyid}" is neither in the forms file nor stored for this account`);
  if (row.isWrongAd) {
    const adId = row.ad_id === null ? 'null' : shown(row.ad_id);
    throw new BadLine(row.line, `ad_id: ${adId} is not the ad_id of the metadata`);
  }
  throw new BadLine(row.line, 'timestamp: is not in the years 1 to 9999 in UTC');
}

/**
 * Removes responses from `import_responses` that are already stored with the same values, to avoid writing them again.
 *
 * @returns the number of rows removed
 */
export async function dropUnchanged(client: Client): Promise<number> {
  const { rowCount } = await client.query(
    `delete from import_responses as file using responses as stored
     where (stored.surveyid, stored.timestamp, stored.userid, stored.question_ref)
         = (file.surveyid, file.timestamp, file.userid, file.question_ref)
       -- metadata as text, since 1.0 and 1.00 are equal as jsonb but printed as they were written
       and (stored.parent_surveyid, stored.parent_shortcode, stored.flowid, stored.question_idx, stored.question_text,
           stored.response, stored.metadata::text, stored.pageid, stored.translated_response)
         is not distinct from (file.parent_surveyid, file.parent_shortcode, file.flowid, file.question_idx,
           file.question_text, file.response, file.metadata::text, file.pageid, file.translated_response)`,
  );
  return rowCount ?? 0;
}

/**
 * Stores the responses of `import_responses`. The file lacks two columns: a new response gets its form's shortcode and
 * no seed, a stored one keeps its values.
 */
export async function storeResponses(client: Client): Promise<Pick<Counts, 'new' | 'changed'>> {
  const { rows } = await client.query<{ new: string; changed: string }>(
    `with written as (
       insert into responses (parent_surveyid, parent_shortcode, surveyid, shortcode, flowid, userid, question_ref,
         question_idx, question_text, response, timestamp, metadata, pageid, translated_response)
       select parent_surveyid, parent_shortcode, surveyid, form.shortcode, flowid, file.userid, question_ref,
         question_idx, question_text, response, timestamp, file.metadata, pageid, translated_response
       from import_responses as file join surveys as form on form.id = surveyid
       on conflict (surveyid, timestamp, userid, question_ref) do update
       set (parent_surveyid, parent_shortcode, flowid, question_idx, question_text, response, metadata, pageid,
           translated_response)
         = (excluded.parent_surveyid, excluded.parent_shortcode, excluded.flowid, excluded.question_idx,
           excluded.question_text, excluded.response, excluded.metadata, excluded.pageid, excluded.translated_response)
       returning xmax = 0 as is_new -- xmax is 0 in rows that were inserted, not in those that were updated
     )
     select count(*) filter (where is_new) as new, count(*) filter (where not is_new) as changed from written`,
  );
  return { new: Number(rows[0]?.new), changed: Number(rows[0]?.changed) };
}
