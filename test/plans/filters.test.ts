import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BenchSurvey, createAccount, createSurvey } from '../../bench/data.ts';
import { CSV_COLUMNS, boundaryQuery, countQuery, pageQuery } from '../../src/db/responses.ts';
import type { Range, Selection } from '../../src/responses/selection.ts';
import { parseInstant } from '../../src/responses/timestamp.ts';
import { migrate } from '../../tools/migrations.ts';
import { type TestPostgres, startPostgres } from '../support/postgres.ts';
import { type Plan, explain, useWorkerSettings } from './explain.ts';

const ROWS = 50_000;
const LIMIT = 500;

let server: TestPostgres;
let client: Client;
const surveys = new Map<number, BenchSurvey>();
let users: string[];

beforeAll(async () => {
  server = await startPostgres();
  const url = await server.createDatabase();
  await migrate(url);
  client = new Client({ connectionString: url });
  await client.connect();
  await useWorkerSettings(client);
  const account = await createAccount(client);
  for (const forms of [1, 20]) {
    surveys.set(forms, await createSurvey(client, account, { name: `of ${forms}`, rows: ROWS, forms }));
  }
  const { rows } = await client.query<{ userid: string }>(
    `select userid from responses group by userid order by userid limit 300`,
  );
  users = rows.map(({ userid }) => userid);
});
afterAll(async () => {
  await client?.end();
  await server?.stop();
});

const middle = { timestamp: '2026-03-01T02:30:00.000Z', userid: '2000000000004054', questionRef: 'question_3' };
const after = { ...middle, surveyid: '80000000-0000-4000-8000-000000000000' };

type Filter = Omit<Selection, 'formVersions'>;
const filters: [string, () => Filter][] = [
  ['since', () => ({ since: parseInstant('2026-03-01T02:31:00Z') })],
  [
    'since and until',
    () => ({ since: parseInstant('2026-03-01T02:31:00Z'), until: parseInstant('2026-03-01T12:00:00Z') }),
  ],
  ['until', () => ({ until: parseInstant('2026-03-01T12:00:00Z') })],
  ['a question', () => ({ questionRefs: ['question_3'] })],
  [
    'two questions and since',
    () => ({ questionRefs: ['question_3', 'question_5'], since: parseInstant('2026-03-01T01:00:00Z') }),
  ],
  ['a participant', () => ({ userids: users.slice(0, 1) })],
  ['five participants', () => ({ userids: users.slice(0, 5) })],
  ['three hundred participants', () => ({ userids: users })],
  [
    'a participant, a question and since',
    () => ({ userids: users.slice(7, 8), questionRefs: ['question_3'], since: parseInstant('2026-03-01') }),
  ],
];
const ranges: [string, Range][] = [
  ['from the start', { limit: LIMIT }],
  ['after a cursor', { limit: LIMIT, after }],
];

const scansOf = (nodes: readonly Plan[]) => nodes.filter((node) => node['Relation Name'] === 'responses');

describe.each(['before the first analyze', 'after vacuum analyze'])('%s', (when) => {
  beforeAll(async () => {
    if (!when.startsWith('after')) return;
    await client.query('checkpoint'); // commits are asynchronous here, and no page is all-visible until they are on disk
    await client.query('vacuum analyze');
  });

  describe.each([1, 20])('with %i form versions, filtered by', (forms) => {
    const selection = (filter: Filter): Selection => ({
      formVersions: surveys.get(forms)?.forms.map((id) => ({ id, shortcode: '' })) ?? [],
      ...filter,
    });

    describe.each(filters)('%s', (_, filter) => {
      test.each(ranges)('a page %s reads no more of the index than its rows', async (__, range) => {
        const nodes = await explain(client, pageQuery(selection(filter()), range, CSV_COLUMNS));
        const scans = scansOf(nodes);
        expect(new Set(scans.map((node) => node['Node Type']))).toEqual(new Set(['Index Scan']));
        expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
        // The filter is applied to index entries: no row is fetched to be discarded.
        for (const scan of scans) expect(scan['Rows Removed by Filter'] ?? 0).toBeLessThanOrEqual(1);
        const read = scans.reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0);
        expect(read).toBeLessThanOrEqual((nodes[0]?.['Actual Rows'] ?? 0) + scans.length + 1);
      });

      test('page boundaries and counts need only an index', async () => {
        const range = { after, limit: 4 * LIMIT };
        for (const query of [
          boundaryQuery(selection(filter()), range, LIMIT),
          countQuery(selection(filter()), after),
        ]) {
          const nodes = await explain(client, query);
          expect(new Set(scansOf(nodes).map((node) => node['Node Type']))).toEqual(new Set(['Index Only Scan']));
          const read = scansOf(nodes).reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0);
          // For several participants, Postgres sorts their few keys.
          const sorted = nodes.filter((node) => node['Node Type'] === 'Sort').map((node) => node['Actual Rows']);
          const few = (filter().userids?.length ?? 0) * 6 * forms;
          for (const rows of sorted) expect(rows).toBeLessThanOrEqual(few);
          expect(read).toBeLessThanOrEqual(ROWS);
        }
      });
    });

    test.each(filters.slice(0, 3))('%s, the cost of a page does not depend on its position', async (_, filter) => {
      const blocks = async (range: Range) => {
        const nodes = await explain(client, pageQuery(selection(filter()), range, CSV_COLUMNS));
        return (nodes[0]?.['Shared Hit Blocks'] ?? 0) + (nodes[0]?.['Shared Read Blocks'] ?? 0);
      };
      const first = await blocks({ limit: LIMIT });
      const late = await blocks({ limit: LIMIT, after });
      expect(late).toBeLessThan(1.5 * first + 5 * forms);
      expect(first).toBeLessThan(2 * LIMIT);
    });
  });
});
