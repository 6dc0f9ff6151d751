import type { Client } from 'pg';
import { BadLine, shown } from './bad-line.ts';
import { type Cause, CAUSES, damagedForms, IS_SAME_PARTICIPANT, MAY_BE_DAMAGED } from './spreadsheet.ts';
import type { Counts } from './summary.ts';

/**
 * Refuses responses in `import_responses` that have valid types but cannot be stored.
 *
 * @param asIs whether to accept an `ad_id` that a spreadsheet has damaged
 * @throws BadLine for a form version that the account does not have, an `ad_id` that is not that of the metadata (it is
 *   not stored), or a time outside the years 1 to 9999, which RFC 3339 cannot express
 */
export async function checkResponses(client: Client, account: string, asIs: boolean): Promise<void> {
  const { rows } = await client.query<{
    line: number;
    isUnknown: boolean;
    isWrongAd: boolean;
    surveyid: string;
    ad_id: string | null;
    original: string | null;
    cause: Cause | null;
  }>(
    `select line, "isUnknown", "isWrongAd", surveyid, ad_id, original, cause
     from (
       select file.*, form.id is null as "isUnknown", ad_id is distinct from original as "isWrongAd", original,
         case when ad_id <> original then (select cause from (${damagedForms('original')}) as damaged where form = ad_id limit 1) end as cause
       from import_responses as file left join surveys as form on form.id = surveyid and form.userid = $1
         cross join lateral (select file.metadata ->> 'ad_id') as metadata (original)
     ) as checked
     where "isUnknown" or "isWrongAd" and not ($2 and cause is not null) or timestamp < '0001-01-01Z' or timestamp >= '10000-01-01Z'
     order by line limit 1`,
    [account, asIs],
  );
  const [row] = rows;
  if (!row) return;
  if (row.isUnknown)
    throw new BadLine(
      row.line,
      `surveyid: "${row.surveyid}" is neither in the forms file nor stored for this account: is it the forms file of this survey?`,
    );
  if (row.isWrongAd) {
    const adId = row.ad_id === null ? 'null' : shown(row.ad_id);
    const why = row.cause === null ? '' : `, ${shown(row.original ?? '')}, so ${CAUSES[row.cause]}`;
    throw new BadLine(row.line, `ad_id: ${adId} is not the ad_id of the metadata${why}`);
  }
  throw new BadLine(row.line, 'timestamp: is not in the years 1 to 9999 in UTC');
}

/**
 * Creates the temporary table `import_stored`: for the lines of `import_responses` that are stored already, the `userid` under which
 * they are, and whether all their values are the same.
 *
 * @returns the numbers of those stored under the file's id
 */
export async function compareWithStored(client: Client): Promise<Pick<Counts, 'changed' | 'unchanged'>> {
  await client.query(
    `create temporary table import_stored on commit drop as
     select line, stored.userid, file.userid = stored.userid as is_same_id,
       -- metadata as text, since 1.0 and 1.00 are equal as jsonb but printed as they were written
       (stored.userid, stored.parent_surveyid, stored.parent_shortcode, stored.flowid, stored.question_idx,
           stored.question_text, stored.response, stored.metadata::text, stored.pageid, stored.translated_response)
         is not distinct from (file.userid, file.parent_surveyid, file.parent_shortcode, file.flowid, file.question_idx,
           file.question_text, file.response, file.metadata::text, file.pageid, file.translated_response) as is_unchanged,
       ${MAY_BE_DAMAGED} as may_be_damaged
     from import_responses as file join responses as stored using (surveyid, timestamp, question_ref)
     where ${IS_SAME_PARTICIPANT}`,
  );
  await client.query('analyze import_stored');
  const { rows } = await client.query<{ changed: string; unchanged: string }>(
    `select count(*) filter (where is_same_id and not is_unchanged) as changed, count(*) filter (where is_unchanged) as unchanged
     from import_stored`,
  );
  return { changed: Number(rows[0]?.changed), unchanged: Number(rows[0]?.unchanged) };
}

/**
 * Stores the new and changed responses of `import_responses`; unchanged ones are not written again. The file lacks two columns: a
 * new response gets its form's shortcode and no seed, a stored one keeps its values.
 */
export async function storeResponses(client: Client): Promise<void> {
  await client.query(
    `insert into responses (parent_surveyid, parent_shortcode, surveyid, shortcode, flowid, userid, question_ref,
       question_idx, question_text, response, timestamp, metadata, pageid, translated_response)
     select parent_surveyid, parent_shortcode, surveyid, form.shortcode, flowid, file.userid, question_ref,
       question_idx, question_text, response, timestamp, file.metadata, pageid, translated_response
     from import_responses as file join surveys as form on form.id = surveyid
     where not exists (select from import_stored where import_stored.line = file.line and is_unchanged)
     on conflict (surveyid, timestamp, userid, question_ref) do update
     set (parent_surveyid, parent_shortcode, flowid, question_idx, question_text, response, metadata, pageid,
         translated_response)
       = (excluded.parent_surveyid, excluded.parent_shortcode, excluded.flowid, excluded.question_idx,
         excluded.question_text, excluded.response, excluded.metadata, excluded.pageid, excluded.translated_response)`,
  );
}
