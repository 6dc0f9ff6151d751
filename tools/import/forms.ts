import type { Client } from 'pg';
import { BadLine, shown } from './bad-line.ts';
import { columnsOf } from './staging.ts';

/** Numbers of a file's rows. */
export interface Counts {
  new: number;
  /** Rows that were stored with other values. */
  changed: number;
  unchanged: number;
}

const COLUMNS = [
  'shortcode',
  'survey_name',
  'created',
  'metadata',
  'title',
  'formid',
  'translation_conf',
];

const DETAILS = `jsonb_to_recordset($1) as details
  (id uuid, title text, formid text, translation_conf text, off_time timestamptz, timeouts text)`;

/**
 * Stores the form versions of `import_forms` for an account. Without details, a new form version
 * gets its shortcode as its title, its own id as its `formid` and no translations; a stored one
 * keeps its values.
 *
 * @param total number of rows in the table
 * @param details JSON of the form versions of `/surveys`, whose own JSON is text
 * @throws BadLine for an id that belongs to another account
 */
export async function storeForms(
  client: Client,
  account: string,
  total: number,
  details = '[]',
): Promise<Counts> {
  const forms = await client.query<{ id: string; isNew: boolean }>(
    `insert into surveys as stored (id, userid, ${COLUMNS.join(', ')})
     select surveyid, $2, file.shortcode, file.survey_name, survey_created, file.metadata,
       coalesce(details.title, old.title, file.shortcode), coalesce(details.formid, old.formid, surveyid::text),
       coalesce(details.translation_conf::jsonb, old.translation_conf, '{}')
     from import_forms as file left join surveys as old on old.id = surveyid
       left join ${DETAILS} on details.id = surveyid
     order by surveyid -- so that imports for two accounts cannot wait for each other
     on conflict (id) do update set (${COLUMNS.join(', ')}) = (${columnsOf('excluded', COLUMNS)})
     -- as text, since 1.0 and 1.00 are equal as jsonb but printed as they were written
     where stored.userid = $2
       and (${columnsOf('stored', COLUMNS, '::text')}) is distinct from (${columnsOf('excluded', COLUMNS, '::text')})
     returning id, xmax = 0 as "isNew" -- xmax is 0 in rows that were inserted, not in those that were updated`,
    [details, account],
  );

  // not earlier: the statement waits for another import to store or not store an id
  const { rows: others } = await client.query<{ line: number; id: string }>(
    `select line, id from import_forms join surveys on id = surveyid where userid <> $1 order by line limit 1`,
    [account],
  );

  for (const { line, id } of others)
    throw new BadLine(line, `surveyid: "${id}" belongs to another account: is --email right?`);
  const settings = await client.query<{ id: string }>(
    `insert into survey_settings as stored (surveyid, timeouts, off_time)
     select surveyid, details.timeouts::jsonb, details.off_time
     from import_forms join ${DETAILS} on details.id = surveyid left join survey_settings as old using (surveyid)
     where num_nonnulls(details.timeouts, details.off_time, old.surveyid) > 0
     on conflict (surveyid) do update set (timeouts, off_time) = (excluded.timeouts, excluded.off_time)
     where (stored.timeouts::text, stored.off_time) is distinct from (excluded.timeouts::text, excluded.off_time)
     returning surveyid as id`,
    [details],
  );

  const written = new Set([...forms.rows, ...settings.rows].map(({ id }) => id)).size;
  const added = forms.rows.filter((row) => row.isNew).length;
  return { new: added, changed: written - added, unchanged: total - written };
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
