import type { Client } from 'pg';
import { BadLine } from './bad-line.ts';
import type { Counts } from './summary.ts';

/**
 * Stores the form versions of `import_forms` for an account. The file lacks three columns: a new form version gets its
 * shortcode as its title, its own id as its `formid` and no translations; a stored one keeps its values.
 *
 * `version` is not stored, because the service numbers versions itself. It only has to increase with the time of creation:
 * a file may have only some of a form's versions.
 *
 * @param total number of rows in the table
 * @throws BadLine for an id that belongs to another account, or a version out of order
 */
export async function storeForms(client: Client, account: string, total: number): Promise<Counts> {
  await refuseIdsOfOthers(client, account);
  await refuseVersionsOutOfOrder(client);
  const { rows } = await client.query<{ isNew: boolean }>(
    `insert into surveys as stored (id, userid, shortcode, survey_name, created, metadata, title, formid)
     select surveyid, $1, shortcode, survey_name, survey_created, metadata, shortcode, surveyid::text from import_forms
     on conflict (id) do update
     set (shortcode, survey_name, created, metadata)
       = (excluded.shortcode, excluded.survey_name, excluded.created, excluded.metadata)
     -- metadata as text, since 1.0 and 1.00 are equal as jsonb but printed as they were written
     where (stored.shortcode, stored.survey_name, stored.created, stored.metadata::text)
       is distinct from (excluded.shortcode, excluded.survey_name, excluded.created, excluded.metadata::text)
     returning xmax = 0 as "isNew" -- xmax is 0 in rows that were inserted, not in those that were updated`,
    [account],
  );
  const added = rows.filter((row) => row.isNew).length;
  return { new: added, changed: rows.length - added, unchanged: total - rows.length };
}

async function refuseIdsOfOthers(client: Client, account: string): Promise<void> {
  const { rows } = await client.query<{ line: number; id: string }>(
    `select line, id from import_forms join surveys on id = surveyid where userid <> $1 order by line limit 1`,
    [account],
  );
  const [row] = rows;
  if (row) throw new BadLine(row.line, `surveyid: "${row.id}" belongs to another account: is --email right?`);
}

async function refuseVersionsOutOfOrder(client: Client): Promise<void> {
  const { rows } = await client.query<{ line: number; version: number; previous: number }>(
    `select line, version, previous
     from (
       select line, version,
         lag(version) over (partition by survey_name, shortcode order by survey_created, surveyid) as previous
       from import_forms
     ) as in_order
     where version <= previous order by line limit 1`,
  );
  const [row] = rows;
  if (row)
    throw new BadLine(row.line, `version: ${row.version} cannot follow ${row.previous}, the version created before it`);
}
