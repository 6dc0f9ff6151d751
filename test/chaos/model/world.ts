import { generateApiKey } from '../../../src/auth/api-key.ts';
import { sql, storeKey, withClient } from '../../support/data.ts';
import { pick } from '../../support/random.ts';
import { Account, type Data } from './account.ts';
import {
  type Random,
  SIZED,
  SURVEYS,
  below,
  randomForm,
  randomResponses,
  randomUuid,
  sizedSurvey,
} from './random-data.ts';
import { insertForms, insertResponses } from './store.ts';

/** Each may have four exports at a time. */
const KEYS = 4;

/** All accounts and their data, here and in the database. The first two have the same large surveys, the last has none. */
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

  issueKey(account: Account, expires: Date | null = null): Promise<string> {
    return this.alone(async () => {
      const key = generateApiKey();
      await storeKey(account.id, key, { expires });
      return key;
    });
  }

  async store(random: Random): Promise<void> {
    for (const [i, account] of this.accounts.entries()) {
      const { id, email } = account;
      await sql('insert into users (id, email) values ($1, $2)', [id, email]);
      for (let key = 0; key < KEYS; key++) account.keys.push(await this.issueKey(account));
      if (i < 3) await storeSurveys(random, account, i < 2);
    }
    await sql('vacuum analyze responses');
  }
}

async function storeSurveys(random: Random, account: Account, hasLarge: boolean): Promise<void> {
  for (const survey of hasLarge ? SIZED : []) await add(account, sizedSurvey(random, account, survey));
  for (const survey of SURVEYS) {
    const forms = Array.from({ length: 1 + below(random, 4) }, () => randomForm(random, account, survey));
    // One in five has no responses yet.
    const rows = pick(random, [0, 5, 20, 40, 60]);
    await add(account, { forms, responses: randomResponses(random, account, forms, rows) });
  }
}

/** Adds rows in one transaction. */
export async function add(account: Account, { forms, responses }: Data): Promise<void> {
  const { data, id, marker } = account;
  const next = { forms: [...data.forms, ...forms], responses: [...data.responses, ...responses] };
  await account.write(next, () =>
    withClient(async (db) => {
      await db.query('begin');
      await insertForms(db, id, marker, forms);
      await insertResponses(db, responses, next.forms);
      await db.query('commit');
    }),
  );
}
