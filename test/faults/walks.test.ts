import { describe, expect, test } from 'vitest';
import { get, rowsOf } from '../api/requests.ts';
import { fetchApi } from '../support/api.ts';
import {
  type TestSurvey,
  addResponses,
  copyResponses,
  createAccount,
  createBulkSurvey,
} from '../support/data.ts';
import { download } from '../support/export.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { createPagedSurvey, isPage, limitOf, startFaultyService } from './service.ts';

// Filters that no index holds: a query walks past the responses that do not match.

const service = await startFaultyService();

const RARE = Array.from({ length: 30 }, (_, i) => `2026-05-01T00:00:${10 + i}.000Z`);
/** The lines of a CSV file whose cells have no line breaks. */
const linesOf = (file: Buffer) => file.toString().split('\n');
const survey = await createBulkSurvey(await createAccount(), { rows: 30_000, forms: 5 });
await addResponses(
  survey,
  RARE.map((timestamp) => ({ timestamp, question_ref: 'rare' })),
);
const whole = linesOf(await copyResponses(survey));

const matching = (question: string) =>
  whole.filter((line, i) => i === 0 || line === '' || line.includes(`,${question},`));
/** Whether a query walks past responses: an export's windows, which are bounded, do not count. */
const isWalk = (exchange: Exchange) => isPage(exchange) && !exchange.query.includes(') <= (');

const fetchPage = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  get('/responses', survey, { pageSize: 25, ...parameters }, { headers });
const timesOf = (page: { text: string }) => rowsOf(page).map((row) => row['timestamp']);

/**
 * Exports with parameters. @returns the lines, of which the last is empty, and the queries that it
 * took
 */
async function exportOf(of: TestSurvey, parameters: Record<string, string>) {
  const queries: Exchange[] = [];
  service.proxy.inject((exchange) => void queries.push(exchange));
  const { complete, bytes } = await download(of, { parameters });
  service.proxy.inject();
  expect(complete).toBe(true);
  return { lines: linesOf(bytes), queries };
}

const isBoundary = ({ query: sql }: Exchange) => sql.includes('boundary');

describe('a page', () => {
  test('is a walk because of its filters, whatever it finds; two of an account run at a time', async () => {
    const late = rowsOf(await fetchPage({ order: 'desc', pageSize: '40' }));
    const after = late.at(-1)?.token ?? '';
    const { headers, held, release } = await service.hold(isWalk);
    const walks = [
      { question_ref: 'none' },
      { question_ref: 'question_3' },
      { question_ref: 'rare', after, pageSize: '100' },
      { question_ref: 'question_3', count: 'true' },
    ].map((parameters) => fetchPage(parameters, headers));
    await expect.poll(held).toBe(2);

    // an index holds these
    const userid = late[0]?.['userid'] as string;
    for (const parameters of [{}, { userid }, { since: '2026-05-01', until: '2026-06-01' }])
      expect(timesOf(await fetchPage(parameters)).length).toBeGreaterThan(0);
    expect((await fetchApi('/surveys', survey.account)).status).toBe(200);
    expect(held()).toBe(2); // the others wait

    release();
    const pages = await Promise.all(walks);
    expect(pages.map((page) => timesOf(page).length)).toEqual([0, 25, 30, 25]);
    expect(pages[3]?.headers.get('X-Total-Count')).toBe(String(matching('question_3').length - 2));
  });

  test('that takes several SQL results, or is counted, waits for nobody while it has a walk', async () => {
    service.limitRows(3);
    const { headers, held } = await service.hold(isWalk);
    void fetchPage({ question_ref: 'none' }, headers);
    await expect.poll(held).toBe(1);
    const { headers: received, ...page } = await fetchPage({
      question_ref: 'question_3',
      count: 'true',
    });
    expect(timesOf(page)).toHaveLength(25);
    expect(received.get('X-Total-Count')).toBe(String(matching('question_3').length - 2));
    expect(held()).toBe(1);
  });
});

describe('an export', () => {
  test('reads windows of a bounded size after its first page, and takes no walk', async () => {
    const { headers, held } = await service.hold(isWalk);
    for (const question_ref of ['none', 'rare']) void fetchPage({ question_ref }, headers);
    await expect.poll(held).toBe(2);
    const { lines, queries } = await exportOf(survey, { question_ref: 'question_3' });
    expect(lines).toEqual(matching('question_3'));
    const [first, ...pages] = queries.filter(isPage);
    expect(first && isWalk(first)).toBe(true);
    expect(pages.length).toBeGreaterThan(4);
    // Each ends at a boundary, the last one excepted.
    expect(pages.filter(isWalk)).toHaveLength(1);
    // Boundaries are those of all responses: no filter discards any.
    const boundaries = queries.filter(isBoundary);
    expect(boundaries.length).toBeGreaterThan(1);
    expect(boundaries.filter(({ query: sql }) => sql.includes('question_ref = any'))).toEqual([]);
  });

  test('whose windows take several SQL results has all its rows', async () => {
    const pages = service.limitRows(500);
    const { bytes } = await download(survey, { parameters: { question_ref: 'question_3' } });
    expect(linesOf(bytes)).toEqual(matching('question_3'));
    expect(pages.length).toBeGreaterThan(matching('question_3').length / 500);
  });

  test('whose matches follow a large one takes few requests, and has the responses since a time in both layouts', async () => {
    const paged = await createPagedSurvey(4_000_000);
    const all = await exportOf(paged, { layout: 'wide' });
    const { lines, queries } = await exportOf(paged, {
      since: '2026-01-01',
      until: '2027-01-01',
      layout: 'wide',
    });
    expect(lines).toEqual(all.lines);
    expect(queries.length).toBeLessThan(30);
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
    expect(largest).toBeGreaterThan(25_000);
    expect(largest).toBeLessThanOrEqual(80_000);
  });
});
