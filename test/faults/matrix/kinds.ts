import { randomUUID } from 'node:crypto';
import { type Page, query } from '../../support/api.ts';
import type { TestSurvey } from '../../support/data.ts';
import type { FaultProxy } from '../../support/fault-proxy.ts';
import { type Download, download } from './download.ts';

/** A request, and its response without faults. */
export interface Kind {
  readonly name: string;
  readonly whole: Buffer;
  /** The marks of its rows; some kinds have none. */
  readonly rows: readonly string[];
  /** Number of requests to the database. */
  readonly requests: number;
  /** The SQL endpoint's limit for a result. */
  readonly maxResultBytes: number;
  /** @param trial identifies its requests to the database (`FaultProxy.watch`) */
  send(trial: string, headers?: Record<string, string>): Promise<Download>;
}

interface Recipe {
  readonly path: string;
  readonly headers?: Record<string, string>;
}

/** Part of the text of every row, unique across accounts. */
const MARK = /#[\w-]+:\d+#/g;

/** The marks of the rows in a file. */
export const rowsIn = (file: Buffer): string[] => file.toString('utf8').match(MARK) ?? [];

export interface KindOptions {
  /** Only the kinds with these names. */
  readonly names?: readonly string[];
  readonly maxResultBytes?: number;
  /** Appended to the names. */
  readonly suffix: string;
}

/** Sends every kind of request for a survey once, without faults. */
export async function kindsOf(survey: TestSurvey, proxy: FaultProxy, options: KindOptions): Promise<Kind[]> {
  const { names, maxResultBytes = Infinity, suffix } = options;
  const recipes = Object.entries(await recipesFor(survey)).filter(([name]) => names?.includes(name) ?? true);
  const kinds: Kind[] = [];
  for (const [recipe, { path, headers }] of recipes) {
    const name = `${recipe} ${suffix}`;
    const send: Kind['send'] = (trial, more = {}) => download(path, { ...headers, ...more, 'Test-Trial': trial });
    const trial = randomUUID();
    using watch = proxy.watch(trial, (exchange) => exchange.refuseLonger(maxResultBytes));
    const { status, complete, bytes: whole } = await send(trial);
    if (status !== 200 || !complete) throw new Error(`${name}: ${status} without a fault`);
    kinds.push({ name, send, whole, rows: rowsIn(whole), requests: watch.requests, maxResultBytes });
  }
  return kinds;
}

async function recipesFor(survey: TestSurvey): Promise<Record<string, Recipe>> {
  const key = { Authorization: `Bearer ${survey.account.key}` };
  const of = (path: string, parameters: Record<string, string | number> = {}) =>
    path + query({ survey: survey.name, ...parameters });
  const start = await download(of('/responses', { pageSize: 300 }), key); // caches the key
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
