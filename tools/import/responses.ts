import type { Client } from 'pg';
import { BadLine, shown } from './bad-line.ts';
import type { Counts } from './counts.ts';
import { bigint, integer, jsonObject, nullable, text, timestamp, uuid } from './fields.ts';
import type { Row } from './read-rows.ts';

/** The columns of `/responses/csv`. */
export const responseColumns = {
  parent_surveyid: nullable(uuid),
  parent_shortcode: text,
  surveyid: uuid,
  flowid: bigint,
  userid: text,
  question_ref: text,
  question_idx: integer,
  question_text: text,
  response: text,
  timestamp: timestamp,
  metadata: nullable(jsonObject),
  ad_id: nullable(text),
  pageid: nullable(text),
  translated_response: nullable(text),
};

export type ResponseRow = Row<typeof responseColumns>;

/**
 * Prepares {@link writeResponses}: a table, gone with the transaction, of the keys seen so far and their lines. In the
 * database, because ten million keys do not fit into this process' memory.
 */
export async function rememberLines(client: Client): Promise<void> {
  await client.query(
    `create temporary table import_lines (
       surveyid uuid, timestamp timestamptz, userid text, question_ref text, line integer not null,
       primary key (surveyid, timestamp, userid, question_ref)
     ) on commit drop`,
  );
}

/**
 * Stores some of a file's responses: what the file says is what is stored afterwards. The file lacks two columns of a
 * response: a new one gets its form's shortcode and no seed, a stored one keeps what it has. `ad_id` is not stored: it
 * is `metadata->>'ad_id'`, and has to be that in the file.
 *
 * @param forms ids of the form versions that the account has
 * @throws BadLine for a form version that the account does not have, a response that stands in the file twice, or an
 *   `ad_id` that is not the metadata's
 */
export async function writeResponses(client: Client, forms: Set<string>, rows: ResponseRow[]): Promise<Counts> {
  refuseUnknownForms(forms, rows);
  await refuseRepeated(client, rows);
  const { wrongAdIdLine, ...counts } = await upsertResponses(client, rows);
  const wrong = rows.find((row) => row.line === wrongAdIdLine);
  if (wrong) {
    const { ad_id: adId } = wrong.values;
    throw new BadLine(wrong.line, `ad_id: ${adId === null ? 'null' : shown(adId)} is not the ad_id of the metadata`);
  }
  return counts;
}

function refuseUnknownForms(forms: Set<string>, rows: ResponseRow[]): void {
  const unknown = rows.find((row) => !forms.has(row.values.surveyid));
  if (!unknown) return;
  const { surveyid } = unknown.values;
  throw new BadLine(unknown.line, `surveyid: "${surveyid}" is neither in the forms file nor stored for this account`);
}

async function refuseRepeated(client: Client, rows: ResponseRow[]): Promise<void> {
  const keys = [
    rows.map((row) => row.values.surveyid),
    rows.map((row) => row.values.timestamp),
    rows.map((row) => row.values.userid),
    rows.map((row) => row.values.question_ref),
    rows.map((row) => row.line),
  ];
  const file = `unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::integer[])
    as file(surveyid, timestamp, userid, question_ref, line)`;
  const { rowCount } = await client.query(
    `insert into import_lines select * from ${file} on conflict do nothing`,
    keys,
  );
  if (rowCount === rows.length) return;
  const { rows: repeated } = await client.query<{ line: number; earlier: number }>(
    `select file.line, seen.line as earlier
     from ${file} join import_lines as seen using (surveyid, timestamp, userid, question_ref)
     where seen.line <> file.line order by file.line limit 1`,
    keys,
  );
  const [row] = repeated;
  if (row) {
    const key = 'surveyid, timestamp, userid and question_ref';
    throw new BadLine(row.line, `the response with this ${key} stands on line ${row.earlier} already`);
  }
}

const UPSERT = `
  with file as materialized (
    select *
    from unnest($1::integer[], $2::uuid[], $3::text[], $4::uuid[], $5::bigint[], $6::text[], $7::text[], $8::integer[],
        $9::text[], $10::text[], $11::timestamptz[], $12::jsonb[], $13::text[], $14::text[], $15::text[])
      as file(line, parent_surveyid, parent_shortcode, surveyid, flowid, userid, question_ref, question_idx,
        question_text, response, timestamp, metadata, ad_id, pageid, translated_response)
  ),
  compared as materialized (
    select file.*,
      stored.surveyid is null as is_new,
      -- as text, since jsonb takes 1.0 and 1.00 for equal and prints them as they were written
      stored.surveyid is null or (stored.parent_surveyid, stored.parent_shortcode, stored.flowid, stored.question_idx, stored.question_text,
          stored.response, stored.metadata::text, stored.pageid, stored.translated_response)
        is distinct from (file.parent_surveyid, file.parent_shortcode, file.flowid, file.question_idx,
          file.question_text, file.response, file.metadata::text, file.pageid, file.translated_response) as differs
    from file
    -- lateral with a limit, so that each row is looked up by its key: as a plain join Postgres reads the whole table,
    -- again for every batch
    left join lateral (
      select * from responses
      where (surveyid, timestamp, userid, question_ref)
        = (file.surveyid, file.timestamp, file.userid, file.question_ref)
      limit 1
    ) as stored on true
  ),
  written as (
    insert into responses (parent_surveyid, parent_shortcode, surveyid, shortcode, flowid, userid, question_ref,
      question_idx, question_text, response, timestamp, metadata, pageid, translated_response)
    select parent_surveyid, parent_shortcode, surveyid, form.shortcode, flowid, compared.userid, question_ref,
      question_idx, question_text, response, timestamp, compared.metadata, pageid, translated_response
    from compared join surveys as form on form.id = surveyid
    where differs
    on conflict (surveyid, timestamp, userid, question_ref) do update
    set (parent_surveyid, parent_shortcode, flowid, question_idx, question_text, response, metadata, pageid,
        translated_response)
      = (excluded.parent_surveyid, excluded.parent_shortcode, excluded.flowid, excluded.question_idx,
        excluded.question_text, excluded.response, excluded.metadata, excluded.pageid, excluded.translated_response)
  )
  select count(*) filter (where is_new)::integer as new,
    count(*) filter (where differs and not is_new)::integer as changed,
    count(*) filter (where not differs)::integer as unchanged,
    min(line) filter (where ad_id is distinct from metadata ->> 'ad_id') as "wrongAdIdLine"
  from compared`;

type UpsertResult = Counts & { wrongAdIdLine: number | null };

async function upsertResponses(client: Client, rows: ResponseRow[]): Promise<UpsertResult> {
  const column = (name: keyof ResponseRow['values']): (string | null)[] => rows.map((row) => row.values[name]);
  const { rows: result } = await client.query<UpsertResult>(UPSERT, [
    rows.map((row) => row.line),
    column('parent_surveyid'),
    column('parent_shortcode'),
    column('surveyid'),
    column('flowid'),
    column('userid'),
    column('question_ref'),
    column('question_idx'),
    column('question_text'),
    column('response'),
    column('timestamp'),
    column('metadata'),
    column('ad_id'),
    column('pageid'),
    column('translated_response'),
  ]);
  return result[0] ?? { new: 0, changed: 0, unchanged: 0, wrongAdIdLine: null };
}
