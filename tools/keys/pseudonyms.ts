import { parseKeyLimits } from '../../src/auth/key-limits.ts';
import { isOfSurvey, pseudonym, questionLimits } from '../../src/db/relation.ts';
import { and, render, sql } from '../../src/db/sql.ts';
import { UserError } from '../command.ts';
import { withTransaction } from '../connection.ts';
import { noSuchKey } from './list.ts';
import { printable } from './printable.ts';

/** How many participants are read, and written, at a time. */
const BATCH = 10_000;

/**
 * Writes the participants of a survey that a key sees, and their pseudonyms, as CSV.
 *
 * @param url `postgres://` URL of the migrated database
 * @param write gets some records at a time, and returns whether it takes more
 * @throws UserError if there is no such key, it has no pseudonyms, or does not see such a survey
 */
export async function writePseudonyms(
  url: string,
  id: string,
  survey: string,
  write: (records: string) => Promise<boolean>,
): Promise<void> {
  await withTransaction(url, async (client) => {
    const { rows: keys } = await client.query<{ userid: string; limits: unknown }>(
      'select userid, limits from api_keys where id = $1',
      [id],
    );

    if (!keys[0]) throw noSuchKey(id);
    const limits = parseKeyLimits(keys[0].limits) ?? null;
    if (limits?.secret === undefined) throw new UserError(`<id>: key ${id} has no pseudonyms`);
    const isForm = isOfSurvey({ accountId: keys[0].userid, name: survey, limits });
    const forms = sql`select id from surveys where ${isForm}`;
    const found = render(forms);
    if ((await client.query(found.text, found.params)).rowCount === 0)
      throw new UserError(`--survey: key ${id} sees no survey "${printable(survey)}"`);

    const isSeen = sql`surveyid in (${forms})`;
    const participants = render(sql`
      declare participants cursor for
      select userid, ${pseudonym(sql`userid`, limits.secret)} as pseudonym
      from (
        select distinct userid collate "C" as userid
        from responses where ${and([isSeen, ...questionLimits(limits)])}
      ) seen
      order by userid`);
    await client.query(participants.text, participants.params);

    let records = 'userid,pseudonym\n';
    while (records !== '' && (await write(records))) {
      const { rows } = await client.query<Record<'userid' | 'pseudonym', string>>(
        `fetch ${BATCH} from participants`,
      );

      records = rows.map((row) => `${quoted(row.userid)},${row.pseudonym}\n`).join('');
    }
  });
}

const quoted = (text: string) =>
  /^$|[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
