import { removeFromCache } from '../keys/cache.ts';
import { type IssuedKey, issueKey } from '../keys/issue.ts';
import { revokeKey } from '../keys/revoke.ts';

/** Keys that are issued for a test. All are revoked when it ends, however it ends. */
export class IssuedKeys implements AsyncDisposable {
  readonly #databaseUrl: string;
  readonly #forget: (hash: string) => Promise<void>;
  readonly #cleanUp = new AsyncDisposableStack();

  /**
   * @param databaseUrl `postgres://` URL of the service's database, of its owner
   * @param forget deletes a key's hash from the service's cache, if that can be reached; by default from that of `npm start`
   */
  constructor(databaseUrl: string, forget = (hash: string) => removeFromCache(hash, {})) {
    this.#databaseUrl = databaseUrl;
    this.#forget = forget;
  }

  /** @param expiresInMs in case this process is killed */
  async issue(email: string, expiresInMs: number): Promise<IssuedKey> {
    // First: it throws if the test has ended, and a key that is being issued when it ends is revoked as well.
    this.#cleanUp.defer(async () => {
      const issued = await issuing.catch(() => undefined);
      if (issued) await revokeKey(this.#databaseUrl, issued.id);
    });
    const issuing = issueKey(this.#databaseUrl, { email, name: 'npm run verify', expiresInMs });
    return issuing;
  }

  /** Also deletes the key from the cache. */
  async revoke({ id }: IssuedKey): Promise<void> {
    const { hash } = await revokeKey(this.#databaseUrl, id);
    await this.#forget(hash);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#cleanUp.disposeAsync();
  }
}
