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

  /** @param expiresInMs when the key ends even if this process is killed */
  async issue(email: string, expiresInMs: number): Promise<IssuedKey> {
    // Deferred before the key is issued: this throws if the test has ended, and a key that is being issued then is revoked as well.
    this.defer(async () => {
      const issued = await issuing.catch(() => undefined);
      if (issued) await this.revoke(issued);
    });
    const issuing = issueKey(this.#databaseUrl, { email, name: 'npm run verify', expiresInMs });
    return issuing;
  }

  /** Revokes a key in the database only, to measure how long the service's cache keeps it. */
  async revoke({ id }: IssuedKey): Promise<void> {
    await revokeKey(this.#databaseUrl, id);
  }
}
