import type { Client } from 'pg';
import { UserError } from './command.ts';
import { printable } from './keys/printable.ts';
import { ADVISORY_LOCK } from './migrations.ts';

export interface Account {
  readonly id: string;
  /** The address as it is stored, which may differ in case from the one that was given. */
  readonly email: string;
}

/**
 * Finds an account by its e-mail address, regardless of case.
 *
 * @throws UserError naming them when several accounts differ in case only
 */
export async function findAccount(client: Client, email: string): Promise<Account | undefined> {
  const { rows } = await client.query<Account>(
    'select id, email from users where lower(email) = lower($1) order by email collate "C"',
    [email],
  );

  if (rows.length > 1) {
    const all = rows.map((row) => `"${printable(row.email)}"`).join(' and ');
    throw new UserError(
      `--email: the accounts ${all} differ only in upper and lower case, which commands do not distinguish: ` +
        'change the address of one in the table "users" and try again',
    );
  }

  return rows[0];
}

/** What to do about an account that does not exist, when a key is issued for it. */
export const CREATE_ADVICE =
  '"npm run db:import" creates one with its data, --create-account one without.';

/**
 * Finds an account as {@link findAccount} does. @throws UserError with the advice if there is none
 */
export async function existingAccount(
  client: Client,
  email: string,
  advice = '',
): Promise<Account> {
  const account = await findAccount(client, email);
  if (!account)
    throw new UserError(`--email: there is no account "${printable(email)}". ${advice}`.trimEnd());
  return account;
}

/**
 * Waits until no other transaction has locked the address, in whatever case, and locks it until
 * this transaction ends. Commands lock it to create an account, and to import or remove data. An
 * import can take long, so the `lock_timeout` does not limit the wait.
 */
export async function lockAddress(client: Client, email: string): Promise<void> {
  await client.query(
    `select set_config('lock_timeout', before, true)
     from (select current_setting('lock_timeout') as before, set_config('lock_timeout', '0', true),
       pg_advisory_xact_lock($1, hashtext(lower($2)))) as locked`,
    [ADVISORY_LOCK, email],
  );
}

/** Locks an address, and finds its account as {@link findAccount} does, or creates it. */
export async function findOrCreateAccount(client: Client, email: string) {
  await lockAddress(client, email);
  const found = await findAccount(client, email);
  if (found) return { account: found, isNew: false };
  // The platform does not take the lock.
  const insert = 'insert into users (email) values ($1) on conflict do nothing returning id, email';
  const { rows } = await client.query<Account>(insert, [email]);
  return { account: rows[0] ?? (await existingAccount(client, email)), isNew: rows.length > 0 };
}

/** @throws UserError unless it can be the address of a new account */
export function checkEmail(email: string): void {
  if (!/^[^\s@]+@[^\s@]+$/.test(email))
    throw new UserError(`--email: ${JSON.stringify(email)} is not an e-mail address`);
}
