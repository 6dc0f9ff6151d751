import { randomUUID } from 'node:crypto';
import { type Page, query } from '../../support/api.ts';
import type { TestSurvey } from '../../support/data.ts';
import type { FaultProxy } from '../../support/fault-proxy.ts';
import { type Download, download } from './download.ts';

/** A request whose answer must survive faults, and that answer as it is without any. */
export interface Kind {
  readonly name: string;
  readonly whole: Buffer;
  /** The answers in it, which may be none. */
  readonly answers: readonly string[];
  /** Requests that it costs the database. */
  readonly requests: number;
  /** The endpoint gives no longer answers than that; bytes. */
  readonly longest: number;
  /** @param trial a name for its requests to the database, where `FaultProxy.watch` listens for it */
  ask(trial: string, headers?: Record<string, string>): Promise<Download>;
}

/** What makes a kind. */
interface Recipe {
  readonly path: string;
  readonly headers?: Record<string, string>;
}

/** Each answer is told from all others, those of the other account too. */
const MARK = /#[\w-]+:\d+#/g;

/** The answers that are in a file. */
export const answersIn = (file: Buffer): string[] => file.toString('utf8').match(MARK) ?? [];

export interface KindOptions {
  /** Which, if not all. */
  readonly names?: readonly string[];
  readonly longest?: number;
  /** Distinguishes their names from those of other surveys. */
  readonly of: string;
}

/** Everything that can be asked of a survey. */
export async function kindsOf(survey: TestSurvey, proxy: FaultProxy, options: KindOptions): Promise<Kind[]> {
  const { names, longest = Infinity, of } = options;
  const recipes = Object.entries(await recipesFor(survey)).filter(([name]) => names?.includes(name) ?? true);
  const kinds: Kind[] = [];
  for (const [recipe, { path, headers }] of recipes) {
    const name = `${recipe} of ${of}`;
    const ask: Kind['ask'] = (trial, more = {}) => download(path, { ...headers, ...more, 'Test-Trial': trial });
    const trial = randomUUID();
    using watch = proxy.watch(trial, (exchange) => exchange.refuseLonger(longest));
    const { status, complete, bytes: whole } = await ask(trial);
    if (status !== 200 || !complete) throw new Error(`${name}: ${status} without a fault`);
    kinds.push({ name, ask, whole, answers: answersIn(whole), requests: watch.requests, longest });
  }
  return kinds;
}

async function recipesFor(survey: TestSurvey): Promise<Record<string, Recipe>> {
  const key = { Authorization: `Bearer ${survey.account.key}` };
  const of = (path: string, parameters: Record<string, string | number> = {}) =>
    path + query({ survey: survey.name, ...parameters });
  const start = await download(of('/responses', { pageSize: 300 }), key); // the key is in the cache from here on
  const after = (JSON.parse(start.bytes.toString()) as Page).responses.at(-1)?.token ?? '';
  const recipes: Record<string, Recipe> = {
    csv: { path: of('/responses/csv') },
    'csv with filters': { path: of('/responses/csv', { shortcode: 'f0', since: '2026-03-01T00:00:30Z' }) },
    'csv resumed': { path: of('/responses/csv', { after, count: 'true' }) },
    'csv under gzip': { path: of('/responses/csv'), headers: { 'Accept-Encoding': 'gzip' } },
    wide: { path: of('/responses/csv', { layout: 'wide' }) },
    ndjson: { path: of('/responses/ndjson') },
    'ndjson under gzip': { path: of('/responses/ndjson'), headers: { 'Accept-Encoding': 'gzip' } },
    'a page': { path: of('/responses', { pageSize: 1000 }) },
    'the next page': { path: of('/responses', { pageSize: 700, after }) },
    'form versions': { path: of('/responses/form-data') },
    surveys: { path: '/surveys' },
  };
  return Object.fromEntries(
    Object.entries(recipes).map(([name, { path, headers }]) => [name, { path, headers: { ...key, ...headers } }]),
  );
}
