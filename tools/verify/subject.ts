import { API, type Client, type RequestOptions, bodyOf } from './client.ts';
import type { startTransfers } from './ended-keys.ts';
import { NotTested, expectEqual } from './expect.ts';
import type { readCsv } from './files.ts';
import type { IssuedKeys } from './issued-keys.ts';

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
  /** Called often while something takes long. */
  readonly progress: (text: string) => void;
}

/** A survey, with the number of its responses before {@link Subject.until}. */
export interface CountedSurvey {
  readonly name: string;
  readonly total: number;
}

/** A response may be stored this long after its timestamp. */
const SETTLED_MS = 10 * 60_000;

/** The service that is tested, and what earlier checks found. */
export class Subject {
  readonly client: Client;
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

  constructor(client: Client, options: SubjectOptions) {
    this.client = client;
    this.options = options;
  }

  /** What an earlier check found. @throws NotTested if it did not */
  known<K extends 'email' | 'survey' | 'largest' | 'csv'>(name: K): NonNullable<this[K]> {
    const found = this[name];
    if (found) return found;
    throw new NotTested(this.options.key === undefined ? 'needs SURVEY_KEY' : 'for the reason given above');
  }

  /** Sends a request to a path under {@link API}. @throws Mismatch unless the status is 200 */
  async send(path: string, options: RequestOptions = {}): Promise<Response> {
    const response = await this.client.send(API + path, options);
    const code = response.headers.get('X-Error-Code');
    if (code === 'export_too_large') throw new NotTested('the survey has too many responses');
    expectEqual(`${path}: status`, code === null ? response.status : `${response.status} ${code}`, 200);
    return response;
  }

  /** Requests something of the survey's responses. @throws Mismatch unless the status is 200 */
  async responses(path: string, query: Record<string, string> = {}, encoding = 'identity'): Promise<Response> {
    const { name: survey } = this.known('survey');
    const headers = { 'Accept-Encoding': encoding };
    return this.send(`/responses/${path}`, { query: { survey, until: this.until, ...query }, headers });
  }

  /** The body of a response. Reports progress while it is read. */
  body(response: Response): AsyncGenerator<Uint8Array, void, void> {
    return bodyOf(response, (bytes) => this.options.progress(megabytes(bytes)));
  }
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
