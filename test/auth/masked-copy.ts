import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { generateApiKey, generateLimitedApiKey } from '../../src/auth/api-key.ts';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import type { Account } from '../chaos/model/account.ts';
import { pseudonymOf } from '../chaos/model/limits.ts';
import { send } from '../chaos/requests/send.ts';
import { sql, storeKey, withClient } from '../support/data.ts';
import type { Opening } from '../support/export.ts';
import { useStack } from '../support/stack-address.ts';
import { type Stack, type StackOptions, startStack } from '../support/stack.ts';

/** In the order in which they can be filled. */
const TABLES = ['surveys', 'survey_settings', 'responses'];

/** A request but for its key. The path is that after the API's base path. */
export type Question = readonly [path: string, asking: Omit<Opening, 'key'>];

/**
 * What a client sees of a response, but for the address of the service, the clock, and what
 * identifies the request.
 */
export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Its bytes, each a character. */
  readonly body: string;
}

const EXEMPT = new Set(['date', 'server-timing', 'x-request-id']);

export async function ask(
  { address }: Stack,
  key: string,
  [path, asking]: Question,
): Promise<Seen> {
  useStack(address);
  const { status, headers, bytes, complete } = await send(path, { key, ...asking });
  if (!complete) throw new Error(`${path}: the transfer broke off`);
  const timeless = (value: string) =>
    value.replace(address.origin, '').replace(/_[\dTZ-]+(?=\.\w+"$)/, '');
  const seen = [...headers]
    .filter(([name]) => !EXEMPT.has(name))
    .map(([name, value]) => [name, timeless(value)]);
  return { status, headers: Object.fromEntries(seen), body: bytes.toString('latin1') };
}

/**
 * Two services with an account, its e-mail address and an unlimited key: one has the account's
 * data, the other a copy in which what a limited key must not see has never existed.
 *
 * @param given options of the services', with the locale of their databases
 */
export async function startMaskedCopy({ id, email }: Account, given: StackOptions) {
  const options = { limits: { ACCOUNT_LIMIT: 1e9, FAILURE_LIMIT: 1e9 }, ...given };
  const [real, copy] = await Promise.all([startStack(options), startStack(options)]);
  const unlimited = generateApiKey();
  for (const { address } of [real, copy]) {
    useStack(address);
    await sql('insert into users (id, email) values ($1, $2)', [id, email]);
    await storeKey(id, unlimited);
  }

  return {
    real,
    copy,
    unlimited,
    [Symbol.asyncDispose]: async () => void (await Promise.all([real.stop(), copy.stop()])),

    /** Stores a new key with these limits, and makes the copy for it. @returns the key */
    async mask(limits: KeyLimits): Promise<string> {
      useStack(real.address);
      const key = generateLimitedApiKey();
      await storeKey(id, key, { limits });
      await withClient(async (from) => {
        useStack(copy.address);
        await withClient(async (to) => {
          await to.query(`truncate ${TABLES.join()}`);
          for (const table of TABLES) {
            const rows = from.query(copyTo(`copy ${table} to stdout`));
            await pipeline(rows, to.query(copyFrom(`copy ${table} from stdin`)));
          }
          await hide(to, limits);
        });
      });
      return key;
    },
  };
}

/** Deletes and changes what these limits hide, as docs/keys.md describes it. */
async function hide(client: pg.Client, limits: KeyLimits): Promise<void> {
  const valuesOf = async (select: string) =>
    (await client.query<string[]>({ text: select, rowMode: 'array' })).rows;
  const allows = (names: readonly string[] | undefined, name = '') =>
    names === undefined || names.includes(name);

  const forms = await valuesOf('select id, survey_name, shortcode from surveys');
  const hiddenForms = forms
    .filter(([, name, code]) => !allows(limits.surveys, name) || !allows(limits.shortcodes, code))
    .map(([form]) => form);
  const questions = (await valuesOf('select distinct question_ref from responses')).flat();
  const hiddenQuestions = questions.filter(
    (name) => !allows(limits.questions, name) || limits.without_questions?.includes(name),
  );
  await client.query(
    'delete from responses where surveyid = any ($1::uuid[]) or question_ref = any ($2)',
    [hiddenForms, hiddenQuestions],
  );
  await client.query('delete from survey_settings where surveyid = any ($1::uuid[])', [
    hiddenForms,
  ]);
  await client.query('delete from surveys where id = any ($1::uuid[])', [hiddenForms]);

  const { secret } = limits;
  if (secret !== undefined) {
    const userids = (await valuesOf('select distinct userid from responses')).flat();
    await client.query(
      `update responses set userid = pseudonym
       from unnest($1::text[], $2::text[]) participant (id, pseudonym) where userid = id`,
      [userids, userids.map((userid) => pseudonymOf(userid, secret))],
    );
  }

  const hidesPageid = limits.pageid === false;
  if (hidesPageid) await client.query('update responses set pageid = null');
  if (!hidesPageid && !limits.metadata) return;
  const isObject = `jsonb_typeof(metadata) = 'object'`;
  const keys = await valuesOf(
    `select distinct jsonb_object_keys(metadata) from responses where ${isObject}`,
  );
  const hiddenKeys = keys
    .flat()
    .filter((name) => !allows(limits.metadata, name) || (hidesPageid && name === 'pageid'));
  await client.query(
    `update responses set metadata = case when ${isObject} then metadata - $1::text[] end`,
    [hiddenKeys],
  );
}
