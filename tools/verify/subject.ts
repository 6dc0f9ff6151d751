import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { IssuedKeys } from './issued-keys.ts';

/** Every path under it needs a key. */
export const API = '/api/v1';

/** A response may be stored this long after its timestamp. */
const SETTLED_MS = 10 * 60_000;

export interface VerifyOptions {
  /** Undefined to test only what needs no key. */
  readonly key?: string | undefined;
  /** A key of another account. */
  readonly otherKey?: string | undefined;
  /** The survey to test with; undefined to choose one. */
  readonly surveyName?: string | undefined;
  /** Undefined to write nothing. */
  readonly issuedKeys?: IssuedKeys | undefined;
  /** How long a revoked key may be accepted, in milliseconds. */
  readonly revocationMs?: number;
  /** Writes a line of the report. */
  readonly log?: (line: string) => void;
  /** Called with what is being done. */
  readonly progress?: (text: string) => void;
}

export interface RequestOptions {
  readonly method?: string;
  /** Sent as bearer token; null sends none. By default, the one that was accepted. */
  readonly key?: string | null | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly encoding?: string | undefined;
  /** The status, and the `X-Error-Code` of an error. By default, 200. */
  readonly expected?: readonly string[];
}

/** The service that is tested, and what earlier checks found. */
export class Subject {
  readonly options: VerifyOptions;
  /**
   * The filter `until` of all requests, so that all files have the same responses although new ones
   * arrive.
   */
  readonly until = new Date(Date.now() - SETTLED_MS).toISOString();
  /** Set when the key has been accepted. */
  account?: { readonly key: string; readonly email: string };
  /** The survey to read, with the number of its responses before `until`. */
  survey?: { readonly name: string; readonly total: number };
  /** Likewise, the one with the most responses. */
  largest?: this['survey'];
  csv?: {
    readonly bytes: number;
    readonly sha256: string;
    /** The SHA-256 of all fields that NDJSON has too. */
    readonly texts: string;
    /** The cursor of a record in the middle, and the SHA-256 of what follows it. */
    readonly rest: { readonly after: string | undefined; readonly sha256: string };
    /** The responses before that time are as many as a workbook is tested with. */
    readonly workbookEnd: string;
    /** What `/digests` has to return. */
    readonly digests: readonly {
      readonly start: string;
      readonly responses: number;
      readonly digest: string;
    }[];
  };
  /** The transfers whose key expires, which run at the same time. Each returns how it broke off. */
  transfers?: Promise<Readonly<Record<'HTTP/1.1' | 'HTTP/2' | 'gzip', Promise<string>>>>;
  readonly #origin: string;

  constructor(origin: string, options: VerifyOptions) {
    this.#origin = origin;
    this.options = options;
  }

  /** What an earlier check found. @throws NotTested if it did not */
  known<K extends 'account' | 'survey' | 'largest' | 'csv'>(name: K): NonNullable<this[K]> {
    const found = this[name];
    if (found) return found;
    throw new NotTested(
      this.options.key === undefined ? 'needs SURVEY_EXPORT_KEY' : 'for the reason given above',
    );
  }

  url(path: string, query: Readonly<Record<string, string>>): URL {
    return new URL(`${path}?${String(new URLSearchParams(query))}`, this.#origin);
  }

  /**
   * @throws Error if the response is not the expected one. @throws NotTested if the service has too
   * much to do
   */
  async request(path: string, options: RequestOptions = {}): Promise<Response> {
    const { method = 'GET', query = {}, encoding = 'identity', expected = ['200'] } = options;
    const { key = this.known('account').key } = options;
    const requested = {
      'Accept-Encoding': encoding,
      ...(key && { Authorization: `Bearer ${key}` }),
    };

    const response = await fetch(this.url(path, query), {
      method,
      headers: requested,
      redirect: 'manual',
    });

    const { status, headers } = response;
    const [code, location, type] = ['X-Error-Code', 'Location', 'Content-Type'].map(
      (name) => headers.get(name) ?? '',
    );

    const found = `${status} ${code}`.trim();
    const isExpected = expected.includes(found);
    // a body that nobody reads would delay other requests
    if (!isExpected) await response.body?.cancel();
    if (status === 429) throw new NotTested(`${path}: status 429, because of other requests`);
    if (code === 'export_too_large') throw new NotTested('the survey has too many responses');
    assert(location === '', `${path} redirects to ${location}: is --url the final address?`);
    assert(
      status !== 403 && !type?.startsWith('text/html'),
      `${path}: status ${status} with ${type} is not from the service. If Cloudflare challenges programs, turn off ` +
        'Bot Fight Mode and Browser Integrity Check for this host.',
    );

    const hint =
      code === 'database_unavailable'
        ? '; its log has the reason: see "503" in docs/runbook.md'
        : '';
    assert(isExpected, `${path}: status: ${found}, expected ${expected[0]}${hint}`);
    return response;
  }

  async json<T>(path: string, options?: RequestOptions): Promise<T> {
    return (await (await this.request(path, options)).json()) as T;
  }

  /** Requests a path below `/responses` for the chosen survey. */
  async responses(
    path: string,
    query: Record<string, string> = {},
    encoding?: string,
  ): Promise<Response> {
    const { name: survey } = this.known('survey');
    return this.request(`${API}/responses/${path}`, {
      query: { survey, until: this.until, ...query },
      encoding,
    });
  }

  /** The form versions that a key gives access to, by the name of their survey. */
  async surveys(key?: string) {
    const forms = await this.json<{ id: string; survey_name: string; shortcode: string }[]>(
      `${API}/surveys`,
      { key },
    );

    return Map.groupBy(forms, (form) => form.survey_name);
  }
}

/**
 * A check that cannot be made, for a reason that is not a fault of what is checked, or that another
 * check reports.
 */
export class NotTested extends Error {
  override name = 'NotTested';
}

/** @param what the beginning of the message. @throws Error unless the values are equal */
export function expectEqual(what: string, found: unknown, expected: unknown): void {
  assert(isDeepStrictEqual(found, expected), `${what}: ${show(found)}, expected ${show(expected)}`);
}

/** A time as text. @param duration in milliseconds */
export const ms = (duration: number) => `${Math.round(duration).toLocaleString('en-US')} ms`;

const MAX_LENGTH = 300;

function show(value: unknown): string {
  const text = value === undefined ? 'missing' : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
