import type { Client } from 'pg';
import { BadLine } from './bad-line.ts';
import type { Counts } from './counts.ts';
import { jsonObject, positiveInteger, text, timestamp, uuid } from './fields.ts';
import type { Row } from './read-rows.ts';

/** The columns of `/responses/form-data`. */
export const formColumns = {
  surveyid: uuid,
  shortcode: text,
  survey_name: text,
  version: positiveInteger,
  survey_created: timestamp,
  metadata: jsonObject,
};

export type FormRow = Row<typeof formColumns>;

/**
 * Stores form versions for an account: what the file says is what is stored afterwards. The file lacks three columns of
 * a form version: a new one gets its shortcode as its title, its own id as its `formid` and no translations, a stored
 * one keeps what it has.
 *
 * `version` is not stored, since the service counts it anew. All it has to do is rise with the time of creation: a
 * file with only some versions of a form loads, one whose versions contradict its times does not.
 *
 * @param rows all rows of the file
 * @throws BadLine for an id that stands twice, an id that belongs to another account, or a version out of order
 */
export async function writeForms(client: Client, account: string, rows: FormRow[]): Promise<Counts> {
  refuseRepeatedIds(rows);
  await refuseOthersIds(client, account, rows);
  const counts = await upsertForms(client, account, rows);
  await refuseVersionsOutOfOrder(client, rows);
  return counts;
}

/** Returns the ids of all form versions that the account has, in lower case. */
export async function formIdsOf(client: Client, account: string): Promise<Set<string>> {
  const { rows } = await client.query<{ id: string }>('select id from surveys where userid = $1', [account]);
  return new Set(rows.map((row) => row.id));
}

function refuseRepeatedIds(rows: FormRow[]): void {
  const lines = new Map<string, number>();
  for (const { line, values } of rows) {
    const earlier = lines.get(values.surveyid);
    if (earlier !== undefined)
      throw new BadLine(line, `surveyid: "${values.surveyid}" stands on line ${earlier} already`);
    lines.set(values.surveyid, line);
  }
}

async function refuseOthersIds(client: Client, account: string, rows: FormRow[]): Promise<void> {
  const { rows: others } = await client.query<{ line: number; id: string }>(
    `select line, id from unnest($2::uuid[], $3::integer[]) as file(id, line) join surveys using (id)
     where userid <> $1 order by line limit 1`,
    [account, rows.map((row) => row.values.surveyid), rows.map((row) => row.line)],
  );
  const [other] = others;
  if (other) throw new BadLine(other.line, `surveyid: "${other.id}" belongs to another account`);
}

async function upsertForms(client: Client, account: string, rows: FormRow[]): Promise<Counts> {
  const { rows: result } = await client.query<Counts>(
    `with file as materialized (
       select *
       from unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::jsonb[])
         as file(id, shortcode, survey_name, created, metadata)
     ),
     compared as materialized (
       select file.*,
         stored.id is null as is_new,
         -- as text, since jsonb takes 1.0 and 1.00 for equal and prints them as they were written
         (stored.shortcode, stored.survey_name, stored.created, stored.metadata::text)
           is distinct from (file.shortcode, file.survey_name, file.created, file.metadata::text) as differs
       from file left join surveys as stored using (id)
     ),
     written as (
       insert into surveys (id, userid, shortcode, survey_name, created, metadata, title, formid)
       select id, $1, shortcode, survey_name, created, metadata, shortcode, id::text from compared where differs
       on conflict (id) do update
       set (shortcode, survey_name, created, metadata)
         = (excluded.shortcode, excluded.survey_name, excluded.created, excluded.metadata)
     )
     select count(*) filter (where is_new)::integer as new,
       count(*) filter (where differs and not is_new)::integer as changed,
       count(*) filter (where not differs)::integer as unchanged
     from compared`,
    [
      account,
      rows.map((row) => row.values.surveyid),
      rows.map((row) => row.values.shortcode),
      rows.map((row) => row.values.survey_name),
      rows.map((row) => row.values.survey_created),
      rows.map((row) => row.values.metadata),
    ],
  );
  return result[0] ?? { new: 0, changed: 0, unchanged: 0 };
}

async function refuseVersionsOutOfOrder(client: Client, rows: FormRow[]): Promise<void> {
  const { rows: wrong } = await client.query<{ line: number; version: number; previous: number }>(
    `select line, version, previous
     from (
       select line, version, lag(version) over (partition by survey_name, shortcode order by created, id) as previous
       from unnest($1::uuid[], $2::integer[], $3::integer[]) as file(id, version, line) join surveys using (id)
     ) as in_order
     where version <= previous order by line limit 1`,
    [rows.map((row) => row.values.surveyid), rows.map((row) => row.values.version), rows.map((row) => row.line)],
  );
  const [row] = wrong;
  if (row)
    throw new BadLine(row.line, `version: ${row.version} cannot follow ${row.previous}, the version created before it`);
}
