import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BenchSurvey, createAccount, createSurvey } from '../../bench/data.ts';
import type { Query } from '../../src/db/client.ts';
import { BY_PARTICIPANT } from '../../src/db/order.ts';
import { questionsQuery } from '../../src/db/questions.ts';
import { boundaryQuery, pageQuery } from '../../src/db/responses.ts';
import type { Range, Selection } from '../../src/responses/selection.ts';
import { parseInstant } from '../../src/responses/timestamp.ts';
import { RECORD_COLUMNS } from '../../src/wide/record.ts';
import { migrate } from '../../tools/migrations.ts';
import { type TestPostgres, startPostgres } from '../support/postgres.ts';
import { explain, useWorkerSettings } from './explain.ts';

const ROWS = 50_000;
const LIMIT = 1000;

let server: TestPostgres;
let client: Client;
const surveys = new Map<number, BenchSurvey>();

beforeAll(async () => {
  server = await startPostgres();
  const url = await server.createDatabase();
  await migrate(url);
  client = new Client({ connectionString: url });
  await client.connect();
  await useWorkerSettings(client);
  const account = await createAccount(client);
  for (const forms of [1, 20, 100]) {
    surveys.set(forms, await createSurvey(client, account, { name: `of ${forms}`, rows: ROWS, forms }));
  }
});
afterAll(async () => {
  await client?.end();
  await server?.stop();
});

const nodesOf = (query: Query) => explain(client, query);

const surveyid = '80000000-0000-4000-8000-000000000000';
const middle = {
  userid: '2000000000004054',
  timestamp: '2026-03-01T02:30:00.000Z',
  questionRef: 'question_3',
  surveyid,
};
const later = { ...middle, userid: '2000000000007000' };

const ranges: [string, Range][] = [
  ['from the start', { limit: LIMIT }],
  ['after a cursor', { limit: LIMIT, after: middle }],
  ['between two page boundaries', { limit: LIMIT, after: middle, upTo: later }],
];

/** Queries must be fast even before Postgres has statistics. */
describe.each(['before the first analyze', 'after vacuum analyze'])('%s', (when) => {
  beforeAll(async () => {
    if (when.startsWith('after')) await client.query('vacuum analyze');
  });

  describe.each([1, 20, 100])('with %i form versions', (forms) => {
    const selection = (): Selection => ({
      formVersions: surveys.get(forms)?.forms.map((id) => ({ id, shortcode: '' })) ?? [],
    });

    test.each(ranges)('a page by participant %s reads no more of its index than its rows', async (_, range) => {
      const nodes = await nodesOf(pageQuery(selection(), range, RECORD_COLUMNS, { order: BY_PARTICIPANT }));
      const scans = nodes.filter((node) => node['Relation Name'] === 'responses');
      expect(new Set(scans.map((node) => node['Node Type']))).toEqual(new Set(['Index Scan']));
      expect(new Set(scans.map((node) => node['Index Name']))).toEqual(new Set(['responses_by_participant']));
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort'); // an Incremental Sort orders the ties
      expect(nodes.some((node) => node['Node Type'] === 'Merge Append')).toBe(forms > 1);
      expect(nodes[0]?.['Actual Rows']).toBe(LIMIT);
      const read = scans.reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0);
      expect(read).toBeLessThanOrEqual(LIMIT + forms + 1);
    });

    test.each(ranges)('page boundaries by participant %s need only their index', async (_, range) => {
      const wanted = { ...range, limit: 4 * LIMIT };
      const nodes = await nodesOf(boundaryQuery(selection(), wanted, LIMIT, BY_PARTICIPANT));
      const scans = nodes.filter((node) => node['Relation Name'] === 'responses');
      expect(new Set(scans.map((node) => node['Node Type']))).toEqual(new Set(['Index Only Scan']));
      expect(new Set(scans.map((node) => node['Index Name']))).toEqual(new Set(['responses_by_participant']));
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
      expect(nodes[0]?.['Actual Rows']).toBe(4);
    });

    test('a page of some participants since a time reads only their part of the index', async () => {
      const userids = ['2000000000000001', '2000000000000002'];
      const some = { ...selection(), userids, since: parseInstant('2026-03-01') };
      const nodes = await nodesOf(pageQuery(some, { limit: LIMIT }, RECORD_COLUMNS, { order: BY_PARTICIPANT }));
      const scans = nodes.filter((node) => node['Relation Name'] === 'responses');
      expect(new Set(scans.map((node) => node['Index Name']))).toEqual(new Set(['responses_by_participant']));
      expect(nodes[0]?.['Actual Rows']).toBe(12);
      expect(scans.reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0)).toBe(12);
    });

    // Without statistics, Postgres expects about as many groups as responses and may sort all responses.
    const mostSorted = when.startsWith('after') ? 6 * forms : ROWS;
    test(`the questions are found in one scan that sorts at most ${mostSorted} rows`, async () => {
      const nodes = await nodesOf(questionsQuery(selection(), 5001));
      expect(nodes.filter((node) => node['Relation Name'] === 'responses')).toHaveLength(1);
      const sorted = nodes.filter((node) => node['Node Type'].endsWith('Sort')).map((node) => node['Actual Rows']);
      expect(Math.max(...sorted)).toBeLessThanOrEqual(mostSorted);
    });
  });
});
