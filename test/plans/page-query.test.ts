import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BenchSurvey, createAccount, createSurvey } from '../../bench/data.ts';
import type { Query } from '../../src/db/client.ts';
import { CSV_COLUMNS, JSON_COLUMNS, boundaryQuery, pageQuery } from '../../src/db/responses.ts';
import type { Range } from '../../src/responses/selection.ts';
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

const middle = { timestamp: '2026-03-01T02:30:00.000Z', userid: '2000000000004054', questionRef: 'question_3' };
const surveyid = '80000000-0000-4000-8000-000000000000';
const later = { timestamp: '2026-03-01T03:30:00.000Z', userid: 'x', questionRef: '', surveyid };

const ranges: [string, Range][] = [
  ['from the start', { limit: LIMIT }],
  ['after a cursor of the older format', { limit: LIMIT, after: middle }],
  ['after a cursor', { limit: LIMIT, after: { ...middle, surveyid } }],
  ['between two page boundaries', { limit: LIMIT, after: { ...middle, surveyid }, upTo: later }],
];

/** Queries must be fast even before Postgres has statistics. */
describe.each(['before the first analyze', 'after vacuum analyze'])('%s', (when) => {
  beforeAll(async () => {
    if (when.startsWith('after')) await client.query('vacuum analyze');
  });

  describe.each([1, 20, 100])('with %i form versions', (forms) => {
    const selection = () => ({
      formVersions: surveys.get(forms)?.forms.map((id) => ({ id, shortcode: '' })) ?? [],
    });

    test.each(ranges)('a page %s reads no more of the index than its rows', async (_, range) => {
      for (const columns of [CSV_COLUMNS, JSON_COLUMNS]) {
        const nodes = await nodesOf(pageQuery(selection(), range, columns));
        const scans = nodes.filter((node) => node['Relation Name'] === 'responses');
        expect(new Set(scans.map((node) => node['Node Type']))).toEqual(new Set(['Index Scan']));
        expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort'); // an Incremental Sort orders the ties
        expect(nodes.some((node) => node['Node Type'] === 'Merge Append')).toBe(forms > 1);
        expect(nodes[0]?.['Actual Rows']).toBe(LIMIT);
        const read = scans.reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0);
        expect(read).toBeLessThanOrEqual(LIMIT + forms + 1);
      }
    });

    test.each(ranges)('page boundaries %s need only the index', async (_, range) => {
      const nodes = await nodesOf(boundaryQuery(selection(), { ...range, limit: 4 * LIMIT }, LIMIT));
      const scans = nodes.filter((node) => node['Relation Name'] === 'responses');
      expect(new Set(scans.map((node) => node['Node Type']))).toEqual(new Set(['Index Only Scan']));
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
      expect(nodes[0]?.['Actual Rows']).toBe(4);
    });
  });
});
