import { withConnection } from '../connection.ts';
import { noSuchAccount } from './issue.ts';
import { isoTime } from './times.ts';

/** A key as an operator sees it: never the key itself nor its hash. Times are ISO 8601. */
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
}

/**
 * Lists the keys of all accounts, or of one: by account, then by age, the oldest first.
 *
 * @param url `postgres://` URL of the migrated database
 * @throws UserError when there is no such account
 */
export async function listKeys(url: string, email?: string): Promise<ListedKey[]> {
  const select = `
    select k.id, u.email, k.name, k.prefix, ${isoTime('k.created')} as created, ${isoTime('k.expires')} as expires,
      ${isoTime('k.last_used')} as "lastUsed", ${isoTime('k.revoked')} as revoked,
      case when k.revoked is not null then 'revoked' when k.expires <= now() then 'expired' else 'active' end as state
    from api_keys k join users u on u.id = k.userid
    where $1::text is null or u.email = $1
    order by u.email collate "C", k.created, k.id`;
  return withConnection(url, async (client) => {
    const { rows } = await client.query<ListedKey>(select, [email ?? null]);
    if (rows.length > 0 || email === undefined) return rows;
    const accounts = await client.query('select from users where email = $1', [email]);
    if (accounts.rowCount === 0) throw noSuchAccount(email);
    return [];
  });
}
