import type { startTransfers } from './ended-keys.ts';
import { Mismatch, NotTested, expectEqual } from './expect.ts';
import type { readCsv } from './files.ts';
import type { IssuedKeys } from './issued-keys.ts';

/** Every path under it needs a key. */
export const API = '/api/v1';

/** A response may be stored this long after its timestamp. */
const SETTLED_MS = 10 * 60_000;

export interface SubjectOptions {
  /** Undefined to test only what needs no key. */
  readonly key?: string | undefined;
  /** A key of another account. */
  readonly otherKey?: string | undefined;
  /** The survey to test with; undefined to choose one. */
  readonly surveyName?: string | undefined;
  /** Undefined to write nothing. */
  readonly issuedKeys?: IssuedKeys | undefined;
  /** How long a revoked key may be accepted, in milliseconds. */
  readonly revocationMs?: number | undefined;
  /** Called with what takes long. */
  readonly progress: (text: string) => void;
}

export interface RequestOptions {
  readonly method?: string;
  /** Sent as bearer token; null sends none. By default, that of {@link SubjectOptions}. */
  readonly key?: string | null | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly encoding?: string;
}

/** A survey, with the number of its responses before {@link Subject.until}. */
export interface CountedSurvey {
  readonly name: string;
  readonly total: number;
}

/** The service that is tested, and what earlier checks found. */
export class Subject {
  readonly options: SubjectOptions;
  readonly started = performance.now();
  /** The end of all requests, so that all files have the same responses although new ones arrive. */
  readonly until = new Date(Date.now() - SETTLED_MS).toISOString();
  /** The account of the key. */
  email?: string;
  survey?: CountedSurvey;
  /** The survey with the most responses. */
  largest?: CountedSurvey;
  csv?: Awaited<ReturnType<typeof readCsv>>;
  /** Those whose key expires, which run at the same time. */
  transfers?: ReturnType<typeof startTransfers>;
  readonly #origin: string;

  /** @param origin without a trailing slash */
  constructor(origin: string, options: SubjectOptions) {
    this.#origin = origin;
    this.options = options;
  }

  /** What an earlier check found. @throws NotTested if it did not */
  known<K extends 'email' | 'survey' | 'largest' | 'csv'>(name: K): NonNullable<this[K]> {
    const found = this[name];
    if (found) return found;
    throw new NotTested(this.options.key === undefined ? 'needs SURVEY_KEY' : 'for the reason given above');
  }

  url(path: string, query: Readonly<Record<string, string>>): URL {
    const url = new URL(this.#origin + path);
    url.search = String(new URLSearchParams(query));
    return url;
  }

  /**
   * Sends a request.
   *
   * @param path after the origin
   * @throws Mismatch if the response is not the service's
   * @throws NotTested if the service has too much to do
   */
  async request(path: string, options: RequestOptions = {}): Promise<Response> {
    const { method = 'GET', key = this.options.key, query = {}, encoding } = options;
    const headers = new Headers(key ? { Authorization: `Bearer ${key}` } : {});
    if (encoding !== undefined) headers.set('Accept-Encoding', encoding);
    const response = await fetch(this.url(path, query), { method, headers, redirect: 'manual' });
    if (response.status === 429) throw new NotTested(`${path}: status 429, because of other requests`);
    const location = response.headers.get('Location');
    if (location !== null) throw new Mismatch(`${path} redirects to ${location}: is --url the final address?`);
    const type = response.headers.get('Content-Type') ?? 'no Content-Type';
    // The service sends neither at the paths that are requested.
    if (response.status === 403 || type.startsWith('text/html'))
      throw new Mismatch(
        `${path}: status ${response.status} with ${type} is not from the service. If Cloudflare challenges programs, turn off ` +
          'Bot Fight Mode and Browser Integrity Check for this host.',
      );
    return response;
  }

  /** Sends a request to a path under {@link API}. @throws Mismatch unless the status is 200 */
  async send(path: string, options: RequestOptions = {}): Promise<Response> {
    const response = await this.request(API + path, options);
    const code = response.headers.get('X-Error-Code');
    if (code === 'export_too_large') throw new NotTested('the survey has too many responses');
    expectEqual(`${path}: status`, code === null ? response.status : `${response.status} ${code}`, 200);
    return response;
  }

  /** Requests something of the survey's responses. @throws Mismatch unless the status is 200 */
  async responses(path: string, query: Record<string, string> = {}, encoding = 'identity'): Promise<Response> {
    const { name: survey } = this.known('survey');
    return this.send(`/responses/${path}`, { query: { survey, until: this.until, ...query }, encoding });
  }
}
