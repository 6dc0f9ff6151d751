import {
  apiKeyPrefix,
  generateApiKey,
  generateLimitedApiKey,
  hashApiKey,
} from '../../src/auth/api-key.ts';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import { CREATE_ADVICE, existingAccount, findAccount, findOrCreateAccount } from '../accounts.ts';
import { withTransaction } from '../connection.ts';
import { applyMigrations } from '../migrations.ts';
import { printable } from './printable.ts';
import { showLimits } from './shown-limits.ts';

/** A new key. `key` is not stored, so it cannot be shown again. */
export type IssuedKey = Awaited<ReturnType<typeof issueKey>>;

export interface IssueOptions {
  readonly email: string;
  /** Whether to create the account if it does not exist. */
  readonly createAccount?: boolean | undefined;
  readonly name: string;
  /** By default, the key does not expire. */
  readonly expiresInMs?: number | undefined;
  /** By default, the key sees everything of the account. */
  readonly limits?: KeyLimits | null;
  /** Called with each thing that was stored besides the key. */
  readonly onNotice?: (notice: string) => void;
}

/** Generates a key, and what is stored of it. */
export async function newKey(isLimited: boolean) {
  const key = isLimited ? generateLimitedApiKey() : generateApiKey();
  return { key, prefix: apiKeyPrefix(key), hash: await hashApiKey(key) };
}

/**
 * Issues an API key for an account and stores its hash, in a database that it migrates first. All
 * or nothing.
 *
 * @param url `postgres://` URL of a user who may migrate
 * @throws UserError if there is no such account, or more than one
 */
export async function issueKey(
  url: string,
  {
    email,
    createAccount = false,
    name,
    expiresInMs,
    limits = null,
    onNotice = () => {},
  }: IssueOptions,
) {
  const { key, prefix, hash } = await newKey(limits !== null);
  const expires =
    expiresInMs === undefined ? null : new Date(Date.now() + expiresInMs).toISOString();
  const stored: string[] = [];
  const issued = await withTransaction(url, async (client) => {
    const applied = await applyMigrations(client);
    if (applied.length > 0) stored.push(`applied ${applied.join(', ')}`);
    const known = createAccount
      ? await findAccount(client, email)
      : await existingAccount(client, email, CREATE_ADVICE);
    const { account, isNew } = known
      ? { account: known, isNew: false }
      : await findOrCreateAccount(client, email);
    if (isNew) stored.push(printable(`Created the account "${email}".`));
    const insert =
      'insert into api_keys (userid, name, prefix, hash, expires, limits) values ($1, $2, $3, $4, $5, $6) returning id';
    const { rows } = await client.query<{ id: string }>(insert, [
      account.id,
      name,
      prefix,
      hash,
      expires,
      limits,
    ]);

    const id = rows[0]?.id ?? '';
    const shown = await showLimits(limits);
    return { key, id, email: account.email, name, prefix, expires, limits: shown };
  });

  for (const notice of stored) onNotice(notice);
  return issued;
}
