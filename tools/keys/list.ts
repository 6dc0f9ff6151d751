import { existingAccount } from '../accounts.ts';
import { UserError } from '../command.ts';
import { withLockTimeout } from '../connection.ts';
import { printable } from './printable.ts';
import { type ShownLimits, inShort, showLimits } from './shown-limits.ts';
import { isoTime, toTheMinute } from './times.ts';

/** A key as operators see it, without the key and its hash. Times are ISO 8601. */
export interface ListedKey {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly prefix: string;
  readonly created: string;
  /** Null for a key that does not expire. */
  readonly expires: string | null;
  readonly lastUsed: string | null;
  readonly revoked: string | null;
  readonly state: 'active' | 'expired' | 'revoked';
  /** What the key sees. */
  readonly limits: ShownLimits;
}

/**
 * SQL that reads keys `k` as {@link ListedKey}, but with the limits as they are stored. A statement
 * that has waited for a lock reads the state after it: not as of `now()`, when its transaction began.
 */
export const SELECT_KEYS = `
  select k.id, u.email, k.name, k.prefix, ${isoTime('k.created')} as created, ${isoTime('k.expires')} as expires,
    ${isoTime('uses.last_used')} as "lastUsed", ${isoTime('k.revoked')} as revoked,
    case when k.revoked is not null then 'revoked' when k.expires <= clock_timestamp() then 'expired' else 'active' end as state,
    k.limits
  from api_keys k join users u on u.id = k.userid left join api_key_uses uses on uses.keyid = k.id`;

export const noSuchKey = (id: string) =>
  new UserError(`<id>: there is no key ${id}. "npm run keys -- list" shows all keys.`);

/**
 * Lists the keys of all accounts, or of one: by account, then by age, oldest first.
 *
 * @param url `postgres://` URL of the migrated database
 * @throws UserError if there is no such account, or more than one
 */
export async function listKeys(url: string, email?: string): Promise<ListedKey[]> {
  const select = `${SELECT_KEYS}
    where $1::uuid is null or u.id = $1
    order by u.email collate "C", k.created, k.id`;
  return withLockTimeout(url, async (client) => {
    const account = email === undefined ? undefined : await existingAccount(client, email);
    const { rows } = await client.query<ListedKey>(select, [account?.id]);
    return Promise.all(
      rows.map(async (key) => Object.assign(key, { limits: await showLimits(key.limits) })),
    );
  });
}

const time = (iso: string | null, none: string) => (iso ? toTheMinute(iso) : none);

const COLUMNS: readonly [header: string, cell: (key: ListedKey) => string][] = [
  ['id', ({ id }) => id],
  ['account', ({ email }) => email],
  ['name', ({ name }) => name],
  ['prefix', ({ prefix }) => prefix],
  ['created', ({ created }) => toTheMinute(created)],
  ['expires', ({ expires }) => time(expires, 'never')],
  ['last used', ({ lastUsed }) => time(lastUsed, '-')],
  ['state', ({ state }) => state],
  ['limits', ({ limits }) => inShort(limits)],
];

/** @returns the keys as an aligned table with a header, without control characters */
export function toTable(keys: readonly ListedKey[]): string {
  const columns = COLUMNS.map(([header, cell]) => {
    const cells = [header, ...keys.map((key) => printable(cell(key)))];
    const width = Math.max(...cells.map(widthOf));
    return cells.map((text) => text + ' '.repeat(width - widthOf(text)));
  });

  const rows = ['', ...keys].map((_, row) => columns.map((cells) => cells[row]).join('  '));
  return rows.map((row) => `${row.trimEnd()}\n`).join('');
}

/** The number of characters as users see them (grapheme clusters). */
const widthOf = (text: string) => Array.from(new Intl.Segmenter().segment(text)).length;
