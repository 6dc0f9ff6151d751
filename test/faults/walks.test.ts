import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Page, fetchApi, query } from '../support/api.ts';
import {
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createBulkSurvey,
} from '../support/data.ts';
import { beginExport, readExport } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { createPagedSurvey, isPage, limitOf, startFaultyService } from './service.ts';

// Filters that no index holds: a query walks past the responses that do not match.

const service = await startFaultyService();

const RARE = Array.from({ length: 30 }, (_, i) => `2026-05-01T00:00:${10 + i}.000Z`);
/** The lines of a CSV file whose cells have no line breaks. */
const linesOf = (file: Buffer) => file.toString().split('\n');
/** Of more responses than a page may walk. */
const survey = await createBulkSurvey(await createAccount(), { rows: 30_000, forms: 5 });
await addResponses(
  survey,
  RARE.map((timestamp) => ({ timestamp, question_ref: 'rare' })),
);
const whole = linesOf(await copyResponses(survey));

const matching = (question: string) =>
  whole.filter((line, i) => i === 0 || line === '' || line.includes(`,${question},`));
const isBounded = ({ query: sql }: Exchange) => sql.includes('matching as materialized');
const isScan = (exchange: Exchange) => isPage(exchange) && !isBounded(exchange);

const fetchPage = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  fetchApi(`/responses${query({ survey: survey.name, pageSize: 25, ...parameters })}`, {
    key: survey.account.key,
    headers,
  });
const timesOf = ({ text }: { text: string }) =>
  (JSON.parse(text) as Page).responses.map((row) => row['timestamp']);

/**
 * Exports with parameters. @returns the lines, of which the last is empty, and the queries that it
 * took
 */
async function exportOf(of: TestSurvey, parameters: Record<string, string>) {
  const queries: Exchange[] = [];
  service.proxy.inject((exchange) => void queries.push(exchange));
  const { complete, bytes } = await readExport(await beginExport(of, { parameters }));
  service.proxy.inject();
  expect(complete).toBe(true);
  return { lines: linesOf(bytes), queries };
}

const isBoundary = ({ query: sql }: Exchange) => sql.includes('row_number() over (order by');

describe('a page', () => {
  test('that walks far has all its rows, in both orders', async () => {
    expect(timesOf(await fetchPage({ question_ref: 'rare' }))).toEqual(RARE.slice(0, 25));
    const backwards = await fetchPage({ question_ref: 'question_3', order: 'desc', pageSize: '7' });
    const last = whole.filter((line) => line.includes(',question_3,')).slice(-7);
    expect(timesOf(backwards).toReversed()).toEqual(
      last.map((line) => /2026-03[^,]*Z/.exec(line)?.[0]),
    );
    expect(timesOf(await fetchPage({ question_ref: 'none' }))).toEqual([]);
  });

  test('that walks far is a scan; one that does not, or whose selection ends, is none', async () => {
    const late = JSON.parse((await fetchPage({ order: 'desc', pageSize: '40' })).text) as Page;
    const after = late.responses.at(-1)?.token ?? '';
    const { headers, held, release } = await service.hold(isScan);
    const scans = ['none', 'rare'].map((question_ref) => fetchPage({ question_ref }, headers));
    await expect.poll(held).toBe(2);
    const waiting = ['none', 'rare'].map((question_ref) => fetchPage({ question_ref }, headers));

    expect(timesOf(await fetchPage({ question_ref: 'question_3' }, headers))).toHaveLength(25);
    expect(
      timesOf(await fetchPage({ question_ref: 'rare', after, pageSize: '100' }, headers)),
    ).toEqual(RARE);
    expect(timesOf(await fetchPage({ question_ref: 'none', after }, headers))).toEqual([]);
    expect(held()).toBe(2); // the other scans wait
    release();
    const pages = await Promise.all([...scans, ...waiting]);
    expect(pages.map((page) => timesOf(page).length)).toEqual([0, 25, 0, 25]);
    expect(held()).toBe(4);
  });

  test('that takes several SQL results finds its end with a scan', async () => {
    service.limitRows(3);
    const { headers, held, release } = await service.hold(isScan);
    for (let i = 0; i < 2; i++) void fetchPage({ question_ref: 'none' }, headers);
    await expect.poll(held).toBe(2);
    const waiting = fetchPage({ question_ref: 'question_3' });
    expect(await Promise.race([waiting, sleep(1000, 'it waits')])).toBe('it waits');
    release();
    expect(timesOf(await waiting)).toHaveLength(25);
  });
});

describe('an export', () => {
  test('reads windows of a bounded size after its first page, and no scans', async () => {
    const { headers, held } = await service.hold(isScan);
    for (const question_ref of ['none', 'rare']) void fetchPage({ question_ref }, headers);
    await expect.poll(held).toBe(2);
    const { lines, queries } = await exportOf(survey, { question_ref: 'question_3' });
    expect(lines).toEqual(matching('question_3'));
    const pages = queries.filter(isPage);
    expect(pages.length).toBeGreaterThan(4);
    // Each ends at a boundary, the last one excepted.
    expect(pages.filter((page) => isScan(page) && !page.query.includes(') <= ('))).toHaveLength(1);
    // Boundaries are those of all responses: no filter discards any.
    const boundaries = queries.filter(isBoundary);
    expect(boundaries.length).toBeGreaterThan(1);
    expect(boundaries.filter(({ query: sql }) => sql.includes('question_ref = any'))).toEqual([]);
  });

  test('whose windows take several SQL results has all its rows, and no bounded page after the first', async () => {
    const pages = service.limitRows(500);
    const { bytes } = await readExport(
      await beginExport(survey, { parameters: { question_ref: 'question_3' } }),
    );
    expect(linesOf(bytes)).toEqual(matching('question_3'));
    expect(pages.map(isBounded)).toEqual(pages.map((_, i) => i === 0));
  });

  test('whose matches follow a large one takes few requests, and has the responses since a time in both layouts', async () => {
    const paged = await createPagedSurvey();
    const all = await exportOf(paged, { layout: 'wide' });
    const { lines, queries } = await exportOf(paged, {
      since: '2026-01-01',
      until: '2027-01-01',
      layout: 'wide',
    });
    expect(lines).toEqual(all.lines);
    expect(queries.length).toBeLessThan(20);
  });

  test('whose matches are far apart takes few requests', async () => {
    const sparse = await createBulkSurvey(await createAccount(), { rows: 80_000, forms: 2 });
    const end = { timestamp: '2026-06-01T00:00:00.000Z', question_ref: 'rare' };
    const first = Array.from({ length: 600 }, (_, i) => ({
      timestamp: new Date(Date.UTC(2026, 1, 1) + i).toISOString(),
      question_ref: 'rare',
      response: 'x'.repeat(i === 0 ? 7_000_000 : 20),
    }));
    await addResponses(sparse, [...first, end]);
    const { lines, queries } = await exportOf(sparse, { question_ref: 'rare' });
    expect([lines.length, lines.at(-2)?.includes(end.timestamp)]).toEqual([603, true]);
    expect(queries.length).toBeLessThan(60);
    const largest = Math.max(...queries.filter(isBoundary).map(limitOf));
    expect(largest).toBeGreaterThan(100_000);
    expect(largest).toBeLessThanOrEqual(320_000);
  });
});
