import { createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { generateApiKey, generateLimitedApiKey } from '../../src/auth/api-key.ts';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import { Account, type FormVersion, type Response } from '../chaos/model/account.ts';
import { send } from '../chaos/requests/send.ts';
import { sql, storeKey, withClient } from '../support/data.ts';
import type { Opening } from '../support/export.ts';
import { PYTHON } from '../support/needed-programs.ts';
import { newFolder } from '../support/once-per-run.ts';
import { runProgram } from '../support/programs.ts';
import { useStack } from '../support/stack-address.ts';
import { type Stack, type StackOptions, startStack } from '../support/stack.ts';

const MASK = fileURLToPath(new URL('mask.py', import.meta.url));

/** In the order in which they can be stored. */
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
export async function startMaskedCopy(account: Account, given: StackOptions) {
  const options = { limits: { ACCOUNT_LIMIT: 1e9, FAILURE_LIMIT: 1e9 }, ...given };
  const [real, copy] = await Promise.all([startStack(options), startStack(options)]);
  const folder = await newFolder();
  const unlimited = generateApiKey();
  for (const { address } of [real, copy]) {
    useStack(address);
    await sql('insert into users (id, email) values ($1, $2)', [account.id, account.email]);
    await storeKey(account.id, unlimited);
  }

  async function load({ address }: Stack, from: string): Promise<void> {
    useStack(address);
    await withClient(async (client) => {
      await client.query('begin');
      await client.query(`truncate ${TABLES.join()}`);
      for (const table of TABLES) {
        const file = await readFile(join(folder, from, table));
        const stream = client.query(copyFrom(`copy ${table} from stdin (header)`));
        await pipeline([file], stream);
      }
      await client.query('commit');
    });
  }

  /** Stores a new limited key. */
  async function issue(limits: KeyLimits): Promise<string> {
    useStack(real.address);
    const key = generateLimitedApiKey();
    await storeKey(account.id, key, { limits });
    return key;
  }

  return {
    real,
    copy,
    unlimited,
    issue,
    [Symbol.asyncDispose]: async () => void (await Promise.all([real.stop(), copy.stop()])),

    /** Exports the data, for {@link mask} and {@link restore}. */
    async save(): Promise<void> {
      await mkdir(join(folder, 'real'), { recursive: true });
      useStack(real.address);
      await withClient(async (client) => {
        for (const table of TABLES) {
          const stream = client.query(copyTo(`copy ${table} to stdout (header)`));
          await pipeline(stream, createWriteStream(join(folder, 'real', table)));
        }
      });
    },

    /** Makes the copy for a new key with these limits. @returns the key */
    async mask(limits: KeyLimits, seed: number): Promise<string> {
      await writeFile(join(folder, 'limits.json'), JSON.stringify(limits));
      const { status, stderr } = await runProgram([PYTHON, MASK, folder, String(seed)]);
      if (status !== 0) throw new Error(stderr);
      await load(copy, 'masked');
      return issue(limits);
    },

    /** Changes what is hidden, and nothing else. */
    vary: () => load(real, 'varied'),
    restore: () => load(real, 'real'),
  };
}

/** The account as one of the databases has it, with what requests can name. */
export async function accountIn({ address }: Stack, { id }: Account): Promise<Account> {
  useStack(address);
  const moment = (column: string) =>
    `(extract(epoch from ${column} - timestamptz '2026-03-01Z') * 1e6)::float8`;
  const forms = await sql<FormVersion>(
    `select id, survey_name as survey, shortcode, ${moment('created')} as created from surveys`,
  );
  const responses = await sql<Response>(
    `select surveyid, userid, question_ref, ${moment('timestamp')} as at from responses order by surveyid, timestamp, userid collate "C", question_ref collate "C"`,
  );
  const account = new Account(id);
  await account.write({ forms, responses }, async () => {});
  return account;
}
