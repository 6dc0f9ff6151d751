import { createHmac } from 'node:crypto';
import { type KeyLimits, parseKeyLimits } from '../../src/auth/key-limits.ts';
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
    const limits: Partial<KeyLimits> = parseKeyLimits(keys[0].limits) ?? {};
    const { secret, surveys, shortcodes, questions, without_questions: hidden } = limits;
    if (secret === undefined) throw new UserError(`<id>: key ${id} has no pseudonyms`);
    const { rows: forms } = await client.query<{ id: string }>(
      `select id from surveys where userid = $1 and survey_name = $2 and survey_name = any(coalesce($3::text[], array[survey_name]))
           and shortcode = any(coalesce($4::text[], array[shortcode]))`,
      [keys[0].userid, survey, surveys, shortcodes],
    );

    if (forms.length === 0)
      throw new UserError(`--survey: key ${id} sees no survey "${printable(survey)}"`);
    await client.query(
      `declare participants cursor for select distinct userid collate "C" as userid from responses
         where surveyid = any($1) and question_ref = any(coalesce($2::text[], array[question_ref])) and question_ref <> all($3)
         order by 1`,
      [forms.map((form) => form.id), questions, hidden ?? []],
    );

    let records = 'userid,pseudonym\n';
    while (records !== '' && (await write(records))) {
      const { rows } = await client.query<{ userid: string }>(`fetch ${BATCH} from participants`);
      records = rows
        .map(({ userid }) => `${quoted(userid)},${pseudonymOf(userid, secret)}\n`)
        .join('');
    }
  });
}

const quoted = (text: string) =>
  /^$|[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** @param secret the key of the HMAC, in hexadecimal */
function pseudonymOf(userid: string, secret: string): string {
  const hmac = createHmac('sha256', Buffer.from(secret, 'hex')).update(userid).digest('hex');
  return `p${hmac.slice(0, 32)}`;
}
