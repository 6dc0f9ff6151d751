import { beforeAll, describe, expect, test } from 'vitest';
import { type BenchSurvey, createAccount, createSurvey } from '../../bench/data.ts';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import { answersQuery } from '../../src/db/answers.ts';
import { countQuery } from '../../src/db/branches.ts';
import { codebookQuery } from '../../src/db/codebook.ts';
import { participantsQuery } from '../../src/db/participants.ts';
import { BY_PARTICIPANT, BY_TIME, type Order } from '../../src/db/order.ts';
import { questionsQuery } from '../../src/db/questions.ts';
import { boundaryQuery, pageQuery } from '../../src/db/responses.ts';
import { CSV_COLUMNS, JSON_COLUMNS } from '../../src/responses/columns.ts';
import { summaryQuery } from '../../src/db/summary.ts';
import type { Filters } from '../../src/responses/filters.ts';
import type { Range, Selection } from '../../src/responses/selection.ts';
import { parseInstant } from '../../src/responses/timestamp.ts';
import { rowColumns } from '../../src/formats/wide/rows.ts';
import { type Plan, connectToNew, explain, useWorkerSettings } from './explain.ts';
import type { Query } from '../../src/db/sql.ts';

const ROWS = 40_000;
const LIMIT = 1000;
const MANY = 1000;
/** Fewer than the responses of 300 participants, which Postgres would sort. */
const FILTERED_LIMIT = 500;

const client = await connectToNew();
// Otherwise, Postgres could gather statistics of a part of the rows while they are being stored.
await client.query('alter table responses set (autovacuum_enabled = off)');
await useWorkerSettings(client);

const account = await createAccount(client);
const create = (options: Omit<Parameters<typeof createSurvey>[2], 'name' | 'rows'>) =>
  createSurvey(client, account, { name: JSON.stringify(options), rows: ROWS, ...options });
const surveys = [await create({ forms: 1 }), await create({ forms: 20 })];
const withChoices = await create({ forms: 20, choices: true });
/** With two questions for each name of a column. */
const asked = await createSurvey(client, account, {
  name: 'asked',
  rows: 4000,
  forms: 2,
  columns: { question_ref: `case n % 2 when 0 then 'b.' else '' end || n / 2` },
});
const ofOne = await createSurvey(client, account, {
  name: 'one',
  rows: 4000,
  forms: 2,
  columns: { userid: `'one'` },
});
const many = [
  ['follow each other', await create({ forms: MANY, consecutive: true })],
  ['alternate', await create({ forms: MANY })],
] as const;
const stored = await client.query<{ userid: string }>(
  `select userid from responses group by userid order by userid limit 300`,
);
const userids = stored.rows.map(({ userid }) => userid);

const surveyid = '80000000-0000-4000-8000-000000000000';
const middle = {
  timestamp: '2026-03-01T02:30:00.000Z',
  userid: '2000000000004054',
  question_ref: 'question_3',
};
const after = { ...middle, surveyid };

const newestFirst: Order = { ...BY_TIME, direction: 'desc' };
/** The orders in which pages are read, each with the index that holds it. */
const orders: [Order, string][] = [
  [BY_TIME, 'responses_pkey'],
  [newestFirst, 'responses_pkey'],
  [BY_PARTICIPANT, 'responses_by_participant'],
];
/** From the start, after a cursor of the older format, and after a cursor. */
const ranges: Range[] = [
  { limit: LIMIT },
  { limit: LIMIT, after: middle },
  { limit: LIMIT, after },
];

type Filter = Omit<Filters, 'shortcode'>;
const selectionOf = (survey: BenchSurvey, limits: KeyLimits | null = null): Selection => ({
  survey: { ...survey, limits },
  formVersions: survey.forms.map((id) => ({ id, shortcode: '' })),
});
const since = parseInstant('2026-03-01T02:31:00Z');
const until = parseInstant('2026-03-01T12:00:00Z');
const filters: [string, Filter][] = [
  ['since and until', { since, until }],
  ['five participants', { userid: userids.slice(0, 5) }],
  ['three hundred participants', { userid: userids }],
  [
    'a participant, a question and since',
    {
      userid: userids.slice(7, 8),
      question_ref: ['question_3'],
      since: parseInstant('2026-03-01'),
    },
  ],
];

const nodesOf = (query: Query) => explain(client, query);
const scansOf = (nodes: readonly Plan[]) =>
  nodes.filter((node) => node['Relation Name'] === 'responses');
const typesOf = (nodes: readonly Plan[]) => new Set(nodes.map((node) => node['Node Type']));
const indexesOf = (nodes: readonly Plan[]) =>
  new Set(scansOf(nodes).map((node) => node['Index Name']));
/** The most rows that are sorted at once. */
const sortedIn = (nodes: readonly Plan[]) =>
  Math.max(
    0,
    ...nodes.filter((node) => node['Node Type'] === 'Sort').map((node) => node['Actual Rows']),
  );
/** The plan on whose rows another works, the one on whose rows that works, and so on. */
const outerPlans = ({ Plans = [] }: Plan): Plan[] =>
  Plans.filter((plan) => plan['Parent Relationship'] === 'Outer').flatMap((plan) =>
    [plan].concat(outerPlans(plan)),
  );
/** Rows that the scans of the responses return. */
const rowsRead = (nodes: readonly Plan[]) =>
  scansOf(nodes).reduce(
    (sum, node) =>
      sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    0,
  );

const secret = '5e'.repeat(32);
const masking: KeyLimits = { v: 1, metadata: ['form', 'seed'], pageid: false, secret };

const BOUNDARIES = 4;

/** An Incremental Sort reads up to so many rows ahead. */
const SORT_GROUP = 64;

const spread = Array.from({ length: 300 }, (_, i) => String(2_000_000_000_000_233 + 27 * i));

/** Filters that no index holds in an order. */
const walks: [string, Order, Filter][] = [
  ['a question', BY_TIME, { question_ref: ['question_3'] }],
  ['every 27th participant', newestFirst, { userid: spread }],
  ['since', BY_PARTICIPANT, { since: parseInstant('2026-02-01') }],
  ['a question without responses', BY_PARTICIPANT, { question_ref: ['none'] }],
  ['three hundred other participants', BY_TIME, { userid: userids.map((id) => `${id}x`) }],
];

/** A page between two boundaries is one scan, whose rows are sorted. */
const readsOnlyItsRows = (survey: BenchSurvey) =>
  test.each(orders)(
    'a page between boundaries in the order %j reads only its rows',
    async (order, index) => {
      const later = { ...after, timestamp: '2026-03-01T03:30:00.000Z', userid: '2000000000005000' };
      const [start, end] = order === newestFirst ? [later, after] : [after, later];
      const range = { limit: ROWS, after: start, upTo: end };
      const nodes = await nodesOf(pageQuery(selectionOf(survey), range, JSON_COLUMNS, { order }));
      expect(indexesOf(nodes)).toEqual(new Set([index]));
      expect(scansOf(nodes)).toHaveLength(1);
      expect(nodes[0]?.['Actual Rows']).toBeGreaterThan(0);
      expect(rowsRead(nodes)).toBeLessThanOrEqual(1.1 * (nodes[0]?.['Actual Rows'] ?? 0));
    },
  );

/** Queries must be fast even before Postgres has statistics. */
describe.each(['before the first analyze', 'after vacuum analyze'])('%s', (when) => {
  beforeAll(async () => {
    if (!when.startsWith('after')) return;
    // commits are asynchronous here, and no page is all-visible until they are on disk
    await client.query('checkpoint');
    await client.query('vacuum analyze');
  });

  describe.each(many)(`with ${MANY} form versions that %s`, (_, survey) => {
    const selection = selectionOf(survey);
    readsOnlyItsRows(survey);

    test.each(orders)(
      'a page in the order %j reads little more of the index than its rows',
      async (order, index) => {
        for (const limit of [25, LIMIT]) {
          for (const range of [{ limit }, { limit, after }]) {
            const nodes = await nodesOf(pageQuery(selection, range, JSON_COLUMNS, { order }));
            expect(nodes.length).toBeLessThan(40);
            expect(indexesOf(nodes)).toEqual(new Set([index]));
            const rows = scansOf(nodes).filter((node) => node['Node Type'] === 'Index Scan');
            expect(rowsRead(rows)).toBeLessThanOrEqual(limit + 10); // ties with the last row
            // The first key of each form version, and `limit / rank + 4` of each; EXPLAIN rounds
            // averages.
            expect(rowsRead(nodes)).toBeLessThanOrEqual(
              1.1 * (MANY + limit * (Math.log(limit) + 6)),
            );
          }
        }
      },
    );

    test.each(orders)(
      'page boundaries and counts in the order %j need only the index',
      async (order, index) => {
        for (const query of [
          boundaryQuery(selection, after, LIMIT, BOUNDARIES, order),
          countQuery(selection, after, order),
        ]) {
          const nodes = await nodesOf(query);
          expect(typesOf(scansOf(nodes))).toEqual(new Set(['Index Only Scan']));
          expect(indexesOf(nodes)).toEqual(new Set([index]));
        }
      },
    );
  });

  test('no query compares each question with each', async () => {
    const formVersions = asked.forms.map((id, i) => ({ id, shortcode: ['a', 'a.b'][i] as string }));
    const selection: Selection = { survey: asked, formVersions };
    for (const query of [
      questionsQuery(selection),
      codebookQuery(selection),
      answersQuery(selection, { repeats: 'first', top: 10, format: 'json' }),
      answersQuery(selection, { top: 10, format: 'csv' }),
      answersQuery(selection, { by: 'metadata.form', numbers: true, top: 10, format: 'json' }),
      answersQuery(selection, { by: 'a.1', top: 10, format: 'csv' }),
    ]) {
      const compared = (await nodesOf(query)).map(
        (node) => (node['Rows Removed by Join Filter'] ?? 0) * node['Actual Loops'],
      );
      expect(Math.max(...compared)).toBeLessThanOrEqual(asked.forms.length * asked.rows);
    }
  });

  test('with pseudonyms, a page of a participant with many responses reads little more than its rows', async () => {
    const range = {
      limit: 100,
      after: { ...after, timestamp: '2026-03-01T00:10:00.000Z' },
      participants: ['one'],
    };
    const nodes = await nodesOf(
      pageQuery(selectionOf(ofOne, masking), range, CSV_COLUMNS, { order: BY_PARTICIPANT }),
    );
    expect(nodes[0]?.['Actual Rows']).toBe(100);
    expect(rowsRead(nodes)).toBeLessThanOrEqual(100 + 2 * (SORT_GROUP + 1));
  });

  test('a page with labels reads its rows once, and the choices of each text of a question once', async () => {
    const selection = selectionOf(withChoices);
    const { columns } = rowColumns({ value: 'label' });
    const query = pageQuery(selection, { limit: LIMIT }, columns, { order: BY_PARTICIPANT });
    const nodes = await nodesOf(query);
    expect(nodes[0]?.['Actual Rows']).toBe(LIMIT);
    expect(rowsRead(nodes)).toBeLessThanOrEqual(LIMIT + 20 + 1);
    const functions = nodes.filter((node) => node['Function Name'] === 'regexp_matches');
    expect(functions.map((node) => node['Actual Loops'])).toEqual([1]); // for one text
  });

  describe.each(surveys.map((survey) => [survey.forms.length, survey] as const))(
    'with %i form versions',
    (forms, survey) => {
      const selection = (filter: Filter = {}): Selection => ({ ...selectionOf(survey), ...filter });
      readsOnlyItsRows(survey);

      const masked = [BY_TIME, newestFirst].map((order) => ['with pseudonyms, ', order] as const);
      test.each([...orders.map(([order]) => ['', order] as const), ...masked])(
        '%sa page in the order %j and its boundaries read little more of an index than their rows',
        async (pseudonyms, order) => {
          const some = selectionOf(survey, pseudonyms ? masking : null);
          const columns = order === BY_PARTICIPANT ? rowColumns({}).columns : CSV_COLUMNS;
          const index = order === BY_PARTICIPANT ? 'responses_by_participant' : 'responses_pkey';
          const sorts = pseudonyms ? ['Incremental Sort'] : [];
          const ahead = pseudonyms ? forms * (SORT_GROUP + 1) : forms + 1;
          for (const range of ranges) {
            const page = await nodesOf(pageQuery(some, range, columns, { order }));
            const boundaries = await nodesOf(boundaryQuery(some, after, LIMIT, BOUNDARIES, order));
            for (const [nodes, scan, pages] of [
              [page, 'Index Scan', 1],
              [boundaries, 'Index Only Scan', BOUNDARIES],
            ] as const) {
              expect(typesOf(scansOf(nodes))).toEqual(new Set([scan]));
              expect(indexesOf(nodes)).toEqual(new Set([index]));
              expect(rowsRead(nodes)).toBeLessThanOrEqual(pages * (LIMIT + ahead));
              expect(sortedIn(nodes)).toBeLessThanOrEqual(BOUNDARIES); // an Incremental Sort orders the ties
              expect([...typesOf(nodes)]).toEqual(expect.arrayContaining(sorts));
              expect(typesOf(nodes).has('Merge Append')).toBe(forms > 1);
            }
            expect(page[0]?.['Actual Rows']).toBe(LIMIT);
            expect(boundaries[0]?.['Actual Rows']).toBe(BOUNDARIES);
            const [root] = page as [Plan];
            const outer = [root, ...outerPlans(root)].map((node) => node['Node Type']);
            expect(outer).toEqual(['Subquery Scan']);
          }
        },
      );

      test('a page of some participants since a time, by participant, reads only their part of the index', async () => {
        const some = {
          userid: ['2000000000000001', '2000000000000002'],
          since: parseInstant('2026-03-01'),
        };
        const { columns } = rowColumns({});
        const nodes = await nodesOf(
          pageQuery(selection(some), { limit: LIMIT }, columns, { order: BY_PARTICIPANT }),
        );
        expect(indexesOf(nodes)).toEqual(new Set(['responses_by_participant']));
        expect(nodes[0]?.['Actual Rows']).toBe(12);
        expect(rowsRead(nodes)).toBe(12);
      });

      test('with pseudonyms, a list of participants takes one scan of an index, and their page reads only their responses', async () => {
        const limited = selectionOf(survey, masking);
        const list = await nodesOf(participantsQuery(limited, secret, 100));
        expect(scansOf(list).map((node) => node['Node Type'])).toEqual(['Index Only Scan']);
        expect(rowsRead(list)).toBe(ROWS);
        for (const participants of [userids.slice(0, 20), userids.slice(0, 1)]) {
          const page = await nodesOf(
            pageQuery(limited, { limit: LIMIT, participants }, CSV_COLUMNS, {
              order: BY_PARTICIPANT,
            }),
          );
          expect(indexesOf(page)).toEqual(new Set(['responses_by_participant']));
          expect(page[0]?.['Actual Rows']).toBe(6 * participants.length);
          expect(rowsRead(page)).toBe(6 * participants.length);
        }
      });

      // Without statistics, Postgres expects about as many groups as responses and may sort all
      // responses.
      const mostSorted = when.startsWith('after') ? 6 * forms : ROWS;
      test(`the questions are found in one scan that sorts at most ${mostSorted} rows`, async () => {
        const nodes = await nodesOf(questionsQuery(selection()));
        expect(scansOf(nodes)).toHaveLength(1);
        const sorted = nodes
          .filter((node) => node['Node Type'].endsWith('Sort'))
          .map((node) => node['Actual Rows']);
        expect(Math.max(...sorted)).toBeLessThanOrEqual(mostSorted);
      });

      test('a codebook reads each response once, and one more for the text of each question', async () => {
        const nodes = await nodesOf(codebookQuery(selection()));
        expect(scansOf(nodes).map((node) => node['Node Type'])).toEqual([
          'Index Scan',
          'Index Scan',
        ]);
        expect(rowsRead(nodes)).toBeGreaterThan(ROWS);
        expect(rowsRead(nodes)).toBeLessThanOrEqual(ROWS + 6 * forms);
      });

      test('a summary reads only an index, once', async () => {
        const nodes = await nodesOf(summaryQuery(selection(), 'Asia/Kolkata'));
        expect(scansOf(nodes).map((node) => node['Node Type'])).toEqual(['Index Only Scan']);
        expect(rowsRead(nodes)).toBe(ROWS);
      });

      test('a summary without some participants reads the responses twice, and the participants once', async () => {
        const options = { repeats: 'drop', require_metadata: ['none'] } as const;
        const nodes = await nodesOf(summaryQuery(selection(), 'Asia/Kolkata', options));
        expect(rowsRead(nodes)).toBe(2 * ROWS);
        const loops = nodes
          .filter((node) => node['Node Type'] === 'CTE Scan')
          .map((node) => node['Actual Loops']);
        expect(Math.max(...loops)).toBe(1);
      });

      test.each(walks)(
        'a page filtered by %s in the order %j walks an index, and reads only its rows',
        async (_, order, filter) => {
          for (const range of [{ limit: 25 }, { limit: LIMIT, after }]) {
            const nodes = await nodesOf(
              pageQuery(selection(filter), range, JSON_COLUMNS, { order }),
            );
            expect(typesOf(scansOf(nodes))).toEqual(new Set(['Index Scan']));
            expect(rowsRead(nodes)).toBeLessThanOrEqual(range.limit + forms + SORT_GROUP);
          }
        },
      );

      describe.each(filters)('filtered by %s', (_, filter) => {
        test('a page reads no more of the index than its rows, wherever it is', async () => {
          const limit = FILTERED_LIMIT;
          for (const [range, order] of [
            [{ limit }, BY_TIME],
            [{ limit, after }, newestFirst],
          ] as const) {
            const nodes = await nodesOf(
              pageQuery(selection(filter), range, CSV_COLUMNS, { order }),
            );
            expect(typesOf(scansOf(nodes))).toEqual(new Set(['Index Scan']));
            expect(typesOf(nodes)).not.toContain('Sort');
            // The filter is applied to index entries: no row is fetched to be discarded.
            for (const scan of scansOf(nodes))
              expect(scan['Rows Removed by Filter'] ?? 0).toBeLessThanOrEqual(1);
            const most = (nodes[0]?.['Actual Rows'] ?? 0) + scansOf(nodes).length + 1;
            expect(rowsRead(nodes)).toBeLessThanOrEqual(most);
          }
        });

        test('page boundaries and counts need only an index', async () => {
          for (const query of [
            boundaryQuery(selection(filter), after, FILTERED_LIMIT, BOUNDARIES),
            countQuery(selection(filter), after),
          ]) {
            const nodes = await nodesOf(query);
            expect(typesOf(scansOf(nodes))).toEqual(new Set(['Index Only Scan']));
            // For several participants, Postgres sorts their few keys.
            const few = (filter.userid?.length ?? 0) * 6 * forms;
            expect(sortedIn(nodes)).toBeLessThanOrEqual(BOUNDARIES + few);
            expect(rowsRead(nodes)).toBeLessThanOrEqual(ROWS);
          }
        });
      });
    },
  );
});
