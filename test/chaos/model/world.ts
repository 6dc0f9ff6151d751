import { generateApiKey, generateLimitedApiKey } from '../../../src/auth/api-key.ts';
import { insertResponses, sql, storeKey } from '../../support/data.ts';
import { type Random, below, pick } from '../../support/random.ts';
import { Account, type Data, type FormVersion, timestampOf } from './account.ts';
import {
  SIZED,
  SURVEYS,
  randomForm,
  randomResponses,
  randomUuid,
  sizedSurvey,
} from './random-data.ts';

/**
 * Of an account, without and with limits that hide nothing. Those without may have four exports at a
 * time together, and so may the others.
 */
const KEYS = 2;

/**
 * All accounts and their data, here and in the database. The first two have the same large surveys,
 * the last has none.
 */
export class World {
  readonly accounts: readonly Account[];
  /** Survey names that have been in use. */
  readonly names: string[] = [...SURVEYS];
  /** The accounts with the same large surveys. */
  readonly pair: readonly Account[];
  #writing: Promise<unknown> = Promise.resolve();

  constructor(random: Random) {
    this.accounts = Array.from({ length: 4 }, () => new Account(randomUuid(random)));
    this.pair = this.accounts.slice(0, 2);
  }

  /** Runs one change of the database at a time, so that a restart interrupts none. */
  async alone<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#writing.then(change);
    this.#writing = done.catch(() => {});
    return done;
  }

  issueKey({ id }: Account, isLimited = false): Promise<string> {
    return this.alone(async () => {
      const key = isLimited ? generateLimitedApiKey() : generateApiKey();
      await storeKey(id, key, { limits: isLimited ? { v: 1 } : null });
      return key;
    });
  }

  async store(random: Random): Promise<void> {
    for (const [i, account] of this.accounts.entries()) {
      await sql('insert into users (id, email) values ($1, $2)', [account.id, account.email]);
      for (let key = 0; key < 2 * KEYS; key++)
        account.keys.push(await this.issueKey(account, key >= KEYS));
      for (const survey of i < 2 ? SIZED : [])
        await add(account, sizedSurvey(random, account, survey));
      for (const survey of i < 3 ? SURVEYS : []) {
        const forms = Array.from({ length: 1 + below(random, 4) }, () =>
          randomForm(random, account, survey),
        );
        // One in five has no responses yet.
        const rows = pick(random, [0, 5, 20, 40, 60]);
        await add(account, { forms, responses: randomResponses(random, account, forms, rows) });
      }
    }
    await sql('vacuum analyze responses');
  }
}

/** Adds rows. */
export async function add(
  account: Account,
  { forms = [], responses = [] }: Partial<Data>,
): Promise<void> {
  const { data } = account;
  const next = { forms: [...data.forms, ...forms], responses: [...data.responses, ...responses] };
  await account.write(next, async () => {
    await insertForms(account, forms);
    // The service reads the shortcode of the form version.
    await insertResponses(responses.map((row) => ({ ...row, shortcode: 'as stored' })));
  });
}

const insertForms = ({ id, marker }: Account, forms: readonly FormVersion[]) =>
  sql(
    `with form as (
       select * from json_to_recordset($3) as f(id uuid, survey text, shortcode text, title text, created timestamptz, metadata text,
         closes timestamptz, timeouts text)
     ), stored as (
       insert into surveys (id, userid, survey_name, shortcode, title, formid, created, metadata, translation_conf)
       select id, $1, survey, shortcode, title, $2, created, metadata::jsonb, metadata::jsonb from form
     )
     insert into survey_settings (surveyid, timeouts, off_time)
     select id, timeouts::jsonb, closes from form where timeouts is not null or closes is not null`,
    [
      id,
      marker,
      JSON.stringify(
        forms.map((form) => Object.assign({}, form, { created: timestampOf(form.created) })),
      ),
    ],
  );
