import type { Client } from 'pg';
import { BadLine, shown } from './bad-line.ts';

/** Numbers of a file's rows. */
export interface Counts {
  new: number;
  /** Rows that were stored with other values. */
  changed: number;
  unchanged: number;
}

/**
 * Stores the form versions of `import_forms` for an account. The file lacks three columns: a new
 * form version gets its shortcode as its title, its own id as its `formid` and no translations; a
 * stored one keeps its values.
 *
 * @param total number of rows in the table
 * @throws BadLine for an id that belongs to another account
 */
export async function storeForms(client: Client, account: string, total: number): Promise<Counts> {
  const { rows } = await client.query<{ isNew: boolean }>(
    `insert into surveys as stored (id, userid, shortcode, survey_name, created, metadata, title, formid)
     select surveyid, $1, shortcode, survey_name, survey_created, metadata, shortcode, surveyid::text from import_forms
     order by import_forms.surveyid -- so that imports for two accounts cannot wait for each other
     on conflict (id) do update
     set (shortcode, survey_name, created, metadata)
       = (excluded.shortcode, excluded.survey_name, excluded.created, excluded.metadata)
     -- metadata as text, since 1.0 and 1.00 are equal as jsonb but printed as they were written
     where stored.userid = $1 and (stored.shortcode, stored.survey_name, stored.created, stored.metadata::text)
       is distinct from (excluded.shortcode, excluded.survey_name, excluded.created, excluded.metadata::text)
     returning xmax = 0 as "isNew" -- xmax is 0 in rows that were inserted, not in those that were updated`,
    [account],
  );

  // not earlier: the statement waits for another import to store or not store an id
  await refuseIdsOfOthers(client, account);
  const added = rows.filter((row) => row.isNew).length;
  return { new: added, changed: rows.length - added, unchanged: total - rows.length };
}

/**
 * Stores what `import_forms` has besides the columns of a file, after {@link storeForms}.
 *
 * @returns the number of form versions that were written by this transaction
 */
export async function storeDetails(client: Client): Promise<number> {
  await client.query(
    `update surveys as stored
     set (title, formid, translation_conf) = (file.title, file.formid, file.translation_conf)
     from import_forms as file
     where stored.id = file.surveyid and (stored.title, stored.formid, stored.translation_conf::text)
       is distinct from (file.title, file.formid, file.translation_conf::text)`,
  );

  await client.query(
    `insert into survey_settings as stored (surveyid, timeouts, off_time)
     select surveyid, file.timeouts, file.off_time
     from import_forms as file left join survey_settings as settings using (surveyid)
     where num_nonnulls(file.timeouts, file.off_time, settings.surveyid) > 0
     on conflict (surveyid) do update set (timeouts, off_time) = (excluded.timeouts, excluded.off_time)
     where (stored.timeouts::text, stored.off_time) is distinct from (excluded.timeouts::text, excluded.off_time)`,
  );

  const { rows } = await client.query<{ written: number }>(
    `select count(*)::float8 as written
     from import_forms as file join surveys on id = file.surveyid
     left join survey_settings as settings on settings.surveyid = file.surveyid
     where pg_current_xact_id()::xid in (surveys.xmin, settings.xmin)`,
  );

  return rows[0]?.written ?? 0;
}

async function refuseIdsOfOthers(client: Client, account: string): Promise<void> {
  const { rows } = await client.query<{ line: number; id: string }>(
    `select line, id from import_forms join surveys on id = surveyid where userid <> $1 order by line limit 1`,
    [account],
  );

  const [row] = rows;
  if (row)
    throw new BadLine(
      row.line,
      `surveyid: "${row.id}" belongs to another account: is --email right?`,
    );
}

/**
 * Checks the versions of `import_forms`. They are not stored, because the service numbers versions
 * itself, by time and id. They only have to increase with the time of creation: a file may have
 * only some of a form's versions.
 *
 * @returns a notice about versions of the same time, if the service numbers them in another order
 * than the file
 * @throws BadLine for a version out of order
 */
export async function checkVersions(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{
    line: number;
    form: string;
    version: number;
    previous: number;
    isBad: boolean;
  }>(
    `select *, version <= previous is true as "isBad"
     from (
       select line, shortcode as form, version,
         lag(version) over (partition by survey_name, shortcode order by survey_created, version) as previous,
         version < lag(version) over (partition by survey_name, shortcode, survey_created order by surveyid) as is_renumbered
       from import_forms
     ) as in_order
     where version <= previous or is_renumbered order by "isBad" desc, line limit 1`,
  );

  const [row] = rows;
  if (!row) return undefined;
  const { line, form, version, previous, isBad } = row;
  if (isBad)
    throw new BadLine(
      line,
      `version: ${version} cannot follow ${previous}, the version created before it`,
    );
  return `line ${line}: version ${version} of ${shown(form)} has the same survey_created as another one: the service numbers such versions by their ids`;
}
