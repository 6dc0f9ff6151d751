import type { Client } from 'pg';
import { UserError } from './command.ts';
import { printable } from './keys/printable.ts';

export interface Account {
  readonly id: string;
  /** The address as it is stored, which may differ in case from the one that was given. */
  readonly email: string;
}

/**
 * Finds an account by its e-mail address, regardless of case.
 *
 * @throws UserError naming both when two accounts differ in case only
 */
export async function findAccount(client: Client, email: string): Promise<Account | undefined> {
  const { rows } = await client.query<Account>(
    'select id, email from users where lower(email) = lower($1) order by email collate "C"',
    [email],
  );
  const [account, second] = rows;
  if (account && second) {
    const both = `"${printable(account.email)}" and "${printable(second.email)}"`;
    throw new UserError(
      `--email: two accounts match, ${both}: change the address of one in the table "users" and try again`,
    );
  }
  return account;
}

/** Finds an account as {@link findAccount} does, or creates it. */
export async function findOrCreateAccount(
  client: Client,
  email: string,
): Promise<{ account: Account; isNew: boolean }> {
  const found = await findAccount(client, email);
  if (found) return { account: found, isNew: false };
  const { rows } = await client.query<Account>('insert into users (email) values ($1) returning id, email', [email]);
  const [account] = rows;
  if (!account) throw new Error('Postgres returned no id for the new account');
  return { account, isNew: true };
}

/** @throws UserError unless it can be the address of a new account */
export function checkEmail(email: string): void {
  if (!/^[^\s@]+@[^\s@]+$/.test(email))
    throw new UserError(`--email: ${JSON.stringify(email)} is not an e-mail address`);
}
