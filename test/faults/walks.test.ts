import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Page, fetchApi, origin, query } from '../support/api.ts';
import { type TestSurvey, addResponses, copyResponses, createAccount, createBulkSurvey } from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { createPagedSurvey, limitOf, withFaultyService } from './service.ts';

// Filters that no index holds: a query walks past the responses that do not match.

const service = withFaultyService();

/** More than a page may walk. */
const ROWS = 30_000;
const RARE = Array.from({ length: 30 }, (_, i) => `2026-05-01T00:00:${10 + i}.000Z`);
let survey: TestSurvey;
let whole: string[];

beforeAll(async () => {
  survey = await createBulkSurvey(await createAccount(), { rows: ROWS, forms: 5 });
  await addResponses(
    survey,
    RARE.map((timestamp) => ({ timestamp, question_ref: 'rare' })),
  );
  whole = linesOf(await copyResponses(survey));
});

/** The lines of a CSV file whose cells have no line breaks. */
const linesOf = (file: Buffer) => file.toString().split('\n');
const isPage = ({ query: sql }: Exchange) => sql.includes('question_text');
const isBounded = ({ query: sql }: Exchange) => sql.includes('matching as materialized');

const fetchPage = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  fetchApi(`/responses${query({ survey: survey.name, pageSize: 25, ...parameters })}`, {
    key: survey.account.key,
    headers,
  });
const timesOf = (text: string) => (JSON.parse(text) as Page).responses.map((row) => row['timestamp']);

/** Holds the unbounded page queries of requests with these headers. */
function holdScans() {
  const trial = randomUUID();
  const waiting: (() => void)[] = [];
  let isHolding = true;
  const watch = service.proxy.watch(trial, (exchange) => {
    if (!isHolding || !isPage(exchange) || isBounded(exchange)) return undefined;
    return new Promise<void>((resolve) => waiting.push(resolve));
  });
  const release = () => {
    isHolding = false;
    for (const resolve of waiting) resolve();
  };
  onTestFinished(() => {
    release();
    watch[Symbol.dispose]();
  });
  return { headers: { 'Test-Trial': trial }, held: () => waiting.length, release };
}

/** The queries that an action sends. */
async function queriesOf<T>(work: () => Promise<T>): Promise<{ result: T; queries: Exchange[] }> {
  const queries: Exchange[] = [];
  service.proxy.inject((exchange) => void queries.push(exchange));
  const result = await work();
  service.proxy.inject();
  return { result, queries };
}

describe('a page', () => {
  test('that walks far has all its rows, in both orders', async () => {
    const { text } = await fetchPage({ question_ref: 'rare' });
    expect(timesOf(text)).toEqual(RARE.slice(0, 25));
    const backwards = await fetchPage({ question_ref: 'question_3', order: 'desc', pageSize: '7' });
    const last = whole.filter((line) => line.includes(',question_3,')).slice(-7);
    expect(timesOf(backwards.text).toReversed()).toEqual(last.map((line) => /2026-03[^,]*Z/.exec(line)?.[0]));
    const { responses } = JSON.parse((await fetchPage({ question_ref: 'none' })).text) as Page;
    expect(responses).toEqual([]);
  });

  test('that walks far is a scan; one that does not, or whose selection ends, is none', async () => {
    const late = JSON.parse((await fetchPage({ order: 'desc', pageSize: '40' })).text) as Page;
    const after = late.responses.at(-1)?.token ?? '';
    const { headers, held, release } = holdScans();
    const scans = [fetchPage({ question_ref: 'none' }, headers), fetchPage({ question_ref: 'rare' }, headers)];
    await expect.poll(held).toBe(2);
    const waiting = [fetchPage({ question_ref: 'none' }, headers), fetchPage({ question_ref: 'rare' }, headers)];

    expect(timesOf((await fetchPage({ question_ref: 'question_3' }, headers)).text)).toHaveLength(25);
    expect(timesOf((await fetchPage({ question_ref: 'rare', after, pageSize: '100' }, headers)).text)).toEqual(RARE);
    expect(timesOf((await fetchPage({ question_ref: 'none', after }, headers)).text)).toEqual([]);
    expect(held()).toBe(2);
    await fetch(origin(), { headers: { 'Test-Clock-Forward': '21000' } });
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([429, 429]);
    release();
    expect((await Promise.all(scans)).map(({ text }) => timesOf(text).length)).toEqual([0, 25]);
  });

  test('that takes several SQL results has all its rows, and finds its end with a scan', async () => {
    service.proxy.inject((exchange) => {
      if (isPage(exchange) && limitOf(exchange) > 3)
        exchange.reply(507, 'response is too large (max is 67108864 bytes)');
    });
    const { text, headers } = await fetchPage({ question_ref: 'rare' });
    expect(timesOf(text)).toEqual(RARE.slice(0, 25));
    expect(headers.get('Link')).toContain(`after=${(JSON.parse(text) as Page).responses.at(-1)?.token}>`);

    const scans = holdScans();
    const held = [
      fetchPage({ question_ref: 'none' }, scans.headers),
      fetchPage({ question_ref: 'none' }, scans.headers),
    ];
    await expect.poll(scans.held).toBe(2);
    const waiting = fetchPage({ question_ref: 'question_3' });
    await sleep(1000);
    await fetch(origin(), { headers: { 'Test-Clock-Forward': '21000' } });
    expect((await waiting).status).toBe(429);
    scans.release();
    await Promise.all(held);
  });
});

describe('an export', () => {
  test('reads windows of a bounded size after its first page, and no scans', async () => {
    const { headers, held, release } = holdScans();
    const scans = [fetchPage({ question_ref: 'none' }, headers), fetchPage({ question_ref: 'rare' }, headers)];
    await expect.poll(held).toBe(2);
    const { result, queries } = await queriesOf(async () =>
      readExport(await beginExport(survey, { parameters: { question_ref: 'question_3' } })),
    );
    const expected = whole.filter((line, i) => i === 0 || line === '' || line.includes(',question_3,'));
    expect({ complete: result.complete, lines: linesOf(result.bytes) }).toEqual({ complete: true, lines: expected });
    const pages = queries.filter(isPage);
    expect(pages.length).toBeGreaterThan(4);
    // Each ends at a boundary, the last one excepted.
    expect(pages.filter((page) => !isBounded(page) && !page.query.includes(') <= ('))).toHaveLength(1);
    // Boundaries are those of all responses: no filter discards any.
    const boundaries = queries.filter(({ query: sql }) => sql.includes('row_number() over (order by'));
    expect(boundaries.length).toBeGreaterThan(1);
    expect(boundaries.filter(({ query: sql }) => sql.includes('question_ref = any'))).toEqual([]);
    release();
    await Promise.all(scans);
  });

  test('whose windows take several SQL results has all its rows, and no bounded page after the first', async () => {
    const pages: Exchange[] = [];
    service.proxy.inject((exchange) => {
      if (!isPage(exchange)) return;
      if (limitOf(exchange) > 500) exchange.reply(507, 'response is too large (max is 67108864 bytes)');
      else pages.push(exchange);
    });
    const { complete, bytes } = await readExport(
      await beginExport(survey, { parameters: { question_ref: 'question_3' } }),
    );
    const expected = whole.filter((line, i) => i === 0 || line === '' || line.includes(',question_3,'));
    expect({ complete, lines: linesOf(bytes) }).toEqual({ complete: true, lines: expected });
    expect(pages.map(isBounded)).toEqual(pages.map((_, i) => i === 0));
  });

  test('whose matches follow a large one, or are far apart, takes few requests', async () => {
    const paged = await createPagedSurvey();
    const { result, queries } = await queriesOf(async () =>
      readExport(await beginExport(paged, { parameters: { until: '2027-01-01', layout: 'wide' } })),
    );
    const same = await readExport(await beginExport(paged, { parameters: { layout: 'wide' } }));
    expect({ complete: result.complete, same: result.bytes.equals(same.bytes) }).toEqual({
      complete: true,
      same: true,
    });
    expect(queries.length).toBeLessThan(20);

    const sparse = await createBulkSurvey(await createAccount(), { rows: 80_000, forms: 2 });
    const times = Array.from({ length: 600 }, (_, i) => new Date(Date.UTC(2026, 1, 1) + i).toISOString());
    const end = { timestamp: '2026-06-01T00:00:00.000Z', question_ref: 'rare' };
    await addResponses(sparse, [
      ...times.map((timestamp, i) => ({
        timestamp,
        question_ref: 'rare',
        response: 'x'.repeat(i === 0 ? 7_000_000 : 20),
      })),
      end,
    ]);
    const found = await queriesOf(async () =>
      readExport(await beginExport(sparse, { parameters: { question_ref: 'rare' } })),
    );
    const lines = linesOf(found.result.bytes);
    expect([found.result.complete, lines.length, lines.at(-2)?.includes(end.timestamp)]).toEqual([true, 603, true]);
    expect(found.queries.length).toBeLessThan(60);
    const boundaries = found.queries.filter(({ query: sql }) => sql.includes('row_number() over (order by'));
    const largest = Math.max(...boundaries.map(limitOf));
    expect(largest).toBeGreaterThan(100_000);
    expect(largest).toBeLessThanOrEqual(320_000);
  });

  test('of the wide layout has the responses since a time, from all windows', async () => {
    const parameters = { layout: 'wide' };
    const all = await readExport(await beginExport(survey, { parameters }));
    const since = await readExport(await beginExport(survey, { parameters: { ...parameters, since: '2026-01-01' } }));
    expect({ complete: since.complete, same: since.bytes.equals(all.bytes) }).toEqual({ complete: true, same: true });
  });
});
