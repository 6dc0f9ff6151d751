import { hashApiKey } from '../../src/auth/api-key.ts';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import { withConnection } from '../connection.ts';
import { type IssuedKey, issueKey } from '../keys/issue.ts';
import { revokeKey } from '../keys/revoke.ts';

/** Keys that are issued for a test. All are revoked when it ends, however it ends. */
export class IssuedKeys extends AsyncDisposableStack {
  readonly #databaseUrl: string;

  /** @param databaseUrl `postgres://` URL of the owner of the service's database */
  constructor(databaseUrl: string) {
    super();
    this.#databaseUrl = databaseUrl;
  }

  /**
   * Issues a key for the account and with the limits of another.
   *
   * @param expiresInMs when the key ends even if this process is killed
   * @throws Error if the database does not have the other key
   */
  async issueLike(key: string, expiresInMs: number): Promise<IssuedKey> {
    // Deferred before the key is issued: this throws if the test has ended, and a key that is being
    // issued then is revoked as well.
    this.defer(async () => {
      const issued = await issuing.catch(() => undefined);
      if (issued) await this.revoke(issued);
    });

    const issuing = this.#find(key).then((found) =>
      issueKey(this.#databaseUrl, { ...found, name: 'npm run verify', expiresInMs }),
    );

    return issuing;
  }

  async #find(key: string) {
    const select =
      'select u.email, k.limits from api_keys k join users u on u.id = k.userid where k.hash = $1';
    const hash = await hashApiKey(key);
    const { rows } = await withConnection(this.#databaseUrl, (client) =>
      client.query<{ email: string; limits: KeyLimits | null }>(select, [hash]),
    );

    if (!rows[0])
      throw new Error('DATABASE_URL is not the database of this service: it does not have the key');
    return rows[0];
  }

  /** Revokes a key in the database only, to measure how long the service's cache keeps it. */
  async revoke({ id }: IssuedKey): Promise<void> {
    await revokeKey(this.#databaseUrl, id);
  }
}
