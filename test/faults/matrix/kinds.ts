import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../../src/auth/api-key.ts';
import { type Page, query } from '../../support/api.ts';
import { type TestSurvey, storeKey } from '../../support/data.ts';
import type { FaultProxy } from '../../support/fault-proxy.ts';
import { type Download, download, downloadPages } from './download.ts';
import { QueryCounts, type Recorded, parseResult } from './results.ts';

/** A request, and its response without faults. */
export interface Kind {
  readonly name: string;
  readonly whole: Buffer;
  /** The marks of its rows; some kinds have none. */
  readonly rows: readonly string[];
  /** Number of requests to the database when nothing else runs. */
  readonly requests: number;
  /** The results of these requests, in the order in which they arrived. */
  readonly results: readonly Recorded[];
  /** Whether it is a page, or several, rather than a file. */
  readonly isPaged: boolean;
  /** The SQL endpoint's limit for a result. */
  readonly maxResultBytes: number;
  /** @param trial identifies its requests to the database (`FaultProxy.watch`) */
  send(trial: string, headers?: Record<string, string>): Promise<Download>;
}

interface Recipe {
  readonly path: string;
  headers?: Record<string, string>;
  /** Reads all pages of this size. */
  readonly pageSize?: number;
}

/** Part of the text of every row, unique across accounts. */
const MARK = /#[\w-]+:\d+#/g;

/** The marks of the rows in a file. */
export const rowsIn = (file: Buffer): string[] => file.toString('utf8').match(MARK) ?? [];

/** Longer than exports read smaller pages after another key's request for a page, and so more of them. */
const LONGER_THAN_TURNS_MS = 1_200;

/** A response that is so much longer than twice the undisturbed one has no end. */
const ENDLESS_BYTES = 100_000;

export interface KindOptions {
  readonly names: readonly string[];
  readonly maxResultBytes?: number;
  /** Appended to the names. */
  readonly suffix: string;
}

/** Sends kinds of requests for a survey once, without faults. */
export async function kindsOf(survey: TestSurvey, proxy: FaultProxy, options: KindOptions): Promise<Kind[]> {
  const { names, maxResultBytes = Infinity, suffix } = options;
  const recipes = Object.entries(await recipesFor(survey, proxy)).filter(([name]) => names.includes(name));
  await sleep(LONGER_THAN_TURNS_MS);
  const kinds: Kind[] = [];
  for (const [recipe, { path, headers, pageSize }] of recipes) {
    const name = `${recipe} ${suffix}`;
    let maxBytes = Infinity;
    const send: Kind['send'] = (trial, more = {}) => {
      const all = { ...headers, ...more, 'Test-Trial': trial };
      return pageSize ? downloadPages(path, pageSize, all, maxBytes) : download(path, all, maxBytes);
    };
    const trial = randomUUID();
    const results: Recorded[] = [];
    const counts = new QueryCounts();
    using watch = proxy.watch(trial, (exchange) => {
      exchange.refuseLonger(maxResultBytes);
      const counted = counts.next(exchange);
      if (!counted) return;
      exchange.change((body) => {
        results.push({ ...counted, result: parseResult(body) });
        return body;
      });
    });
    const { status, complete, bytes: whole, received } = await send(trial);
    if (status !== 200 || !complete) throw new Error(`${name}: ${status} without a fault`);
    maxBytes = 2 * received + ENDLESS_BYTES;
    const isPaged = path.startsWith('/responses?');
    // The fewest, because a request looks its key up again if KV was slow.
    const requests = Math.min(watch.requests, await countRequests(proxy, maxResultBytes, send));
    kinds.push({ name, send, whole, rows: rowsIn(whole), requests, results, isPaged, maxResultBytes });
  }
  return kinds;
}

async function countRequests(proxy: FaultProxy, maxResultBytes: number, send: Kind['send']): Promise<number> {
  const trial = randomUUID();
  using watch = proxy.watch(trial, (exchange) => exchange.refuseLonger(maxResultBytes));
  await send(trial);
  return watch.requests;
}

/** Uses a key until it is looked up no more. */
async function cacheKey(key: string, proxy: FaultProxy): Promise<void> {
  for (;;) {
    const trial = randomUUID();
    using watch = proxy.watch(trial);
    await download('/surveys', { ...authorization(key), 'Test-Trial': trial });
    if (watch.requests === 1) return;
  }
}

const authorization = (key: string) => ({ Authorization: `Bearer ${key}` });

async function recipesFor(survey: TestSurvey, proxy: FaultProxy): Promise<Record<string, Recipe>> {
  const of = (path: string, parameters: Record<string, string | number> = {}) =>
    path + query({ survey: survey.name, ...parameters });
  const start = await download(of('/responses', { pageSize: 300 }), authorization(survey.account.key));
  const after = (JSON.parse(start.bytes.toString()) as Page).responses.at(-1)?.token ?? '';
  const gzip = { headers: { 'Accept-Encoding': 'gzip' } };
  const pages = { path: of('/responses') };
  const recipes: Record<string, Recipe> = {
    csv: { path: of('/responses/csv') },
    'csv with filters': { path: of('/responses/csv', { shortcode: 'f0', since: '2026-03-01T00:00:30Z' }) },
    'csv resumed': { path: of('/responses/csv', { after, count: 'true' }) },
    'csv under gzip': { path: of('/responses/csv'), ...gzip },
    wide: { path: of('/responses/csv', { layout: 'wide' }) },
    'wide under gzip': { path: of('/responses/csv', { layout: 'wide' }), ...gzip },
    ndjson: { path: of('/responses/ndjson') },
    'ndjson under gzip': { path: of('/responses/ndjson'), ...gzip },
    'a page': { path: of('/responses', { pageSize: 1000 }) },
    'the next page': { path: of('/responses', { pageSize: 700, after }) },
    'pages of 100': { ...pages, pageSize: 100 },
    'pages of 350': { ...pages, pageSize: 350 },
    'pages of 350 under gzip': { ...pages, ...gzip, pageSize: 350 },
    'pages of 900': { ...pages, pageSize: 900 },
    'form versions': { path: of('/responses/form-data') },
    surveys: { path: '/surveys' },
  };
  // A key for each, because a key may have few exports at a time.
  for (const recipe of Object.values(recipes)) {
    const key = generateApiKey();
    await storeKey(survey.account.id, key);
    await cacheKey(key, proxy);
    recipe.headers = { ...authorization(key), ...recipe.headers };
  }
  return recipes;
}
