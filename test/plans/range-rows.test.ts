import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAccount } from '../../bench/data.ts';
import { countQuery, splitFilters } from '../../src/db/branches.ts';
import { BY_PARTICIPANT, BY_TIME, type Order } from '../../src/db/order.ts';
import { Proof } from '../../src/db/proof.ts';
import { boundaryQuery, pageQuery } from '../../src/db/responses.ts';
import { csvEncoder } from '../../src/encode/csv.ts';
import { CURSOR_COLUMNS, type Cursor } from '../../src/responses/cursor.ts';
import type { Filters } from '../../src/responses/filters.ts';
import type { Selection } from '../../src/responses/selection.ts';
import { parseInstant } from '../../src/responses/timestamp.ts';
import { pick, randomFrom } from '../support/random.ts';
import type { Query } from '../../src/db/sql.ts';
import { connectToNew } from './explain.ts';

const FORMS = 130;
const ROWS = 6000;
const TRIALS = 100;

interface Row {
  readonly surveyid: string;
  readonly timestamp: string;
  readonly userid: string;
  readonly question_ref: string;
}

const forms: readonly string[] = Array.from({ length: FORMS }, () => randomUUID()).toSorted();
const client = await connectToNew();
await client.query(`set timezone to 'UTC'`);
const { id: accountId } = await createAccount(client);
await client.query(
  `insert into surveys (id, userid, survey_name, shortcode, title, formid)
   select id, $2, 's', 'f', 't', 'f' from unnest($1::uuid[]) form (id)`,
  [forms, accountId],
);
// Form versions that follow each other, that alternate, that have few responses, or none; many
// responses tie.
await client.query(
  `insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx,
     question_text, response, timestamp)
   select 'p', ($1::uuid[])[case n % 4 when 0 then 1 + n * 50 / $2::int when 1 then 51 + n % 50 when 2 then 101 + n % 3
       else 104 + n % 20 end], 'f', 1, 'u' || n % 7, 'q' || n % 5, 1, 't', 'r',
     timestamptz '2026-03-01Z' + n / 200 * interval '1 s'
   from generate_series(0, $2::int - 1) n
   on conflict do nothing`,
  [forms, ROWS],
);
const { rows } = await client.query<Row>(
  `select surveyid, to_char(timestamp, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as timestamp, userid, question_ref
   from responses r order by r.timestamp, userid, question_ref, surveyid`,
);

const COLUMNS = ['surveyid', 'timestamp', 'userid', 'question_ref'] as const;
/** Too many for a branch each. */
const MANY_USERS = ['u1', 'u4', ...Array.from({ length: 299 }, (_, i) => `nobody${i}`)];

/**
 * Sends a query as the service does, and reads its result as a page. @param hasTime whether it has
 * times as Postgres prints them
 */
async function read(query: Query, hasTime = false) {
  const proof = new Proof(query);
  const types = { getTypeParser: () => (value: string) => value };
  const result = await client.query({
    text: proof.statement.text,
    values: proof.statement.params,
    rowMode: 'array',
    types,
  });
  const { fields, rows: cells, rowCount } = result;
  const body = new TextEncoder().encode(JSON.stringify({ fields, rows: cells, rowCount }));
  const timeColumn = hasTime ? COLUMNS.indexOf('timestamp') : -1;
  const encode = csvEncoder({ columns: fields.length, keyColumns: [], timeColumn });
  const { page } = proof.pageOf(body, encode);
  const lines = new TextDecoder().decode(page.data).split('\n').slice(0, -1);
  return lines.map((line) => line.split(','));
}

const orders: readonly Order[] = [BY_TIME, { ...BY_TIME, direction: 'desc' }, BY_PARTICIPANT];
const keyOf = (row: Row, { columns }: Order) =>
  [...columns.map((name) => row[name]), row.surveyid].join('|');

/** All rows in an order. */
const sorted = new Map(
  orders.map((order) => {
    const byKey = rows.map((row) => ({ row, key: keyOf(row, order) }));
    byKey.sort((a, b) => (a.key < b.key ? -1 : 1));
    if (order.direction === 'desc') byKey.reverse();
    return [order, byKey.map(({ row }) => row)];
  }),
);
const instants = new Map(rows.map((row) => [row, parseInstant(row.timestamp) ?? 0n]));

test('a page, page boundaries and a count are those of its range, in every order and for any number of form versions', async () => {
  const seed = Date.now() % 1_000_000;
  const random = randomFrom(seed);
  const cursorOf = (
    { surveyid, timestamp, userid, question_ref }: Row,
    isOlder: boolean,
  ): Cursor => ({
    timestamp,
    userid,
    question_ref,
    ...(isOlder ? {} : { surveyid }),
  });
  const sometimes = <T>(value: T): T | undefined => (random() < 0.3 ? value : undefined);
  for (let trial = 0; trial < TRIALS; trial++) {
    const order = pick(random, orders);
    const selected = forms.slice(0, pick(random, [0, 1, 3, 50, 51, FORMS]));
    const selection: Selection = {
      survey: { accountId, name: 's', limits: null },
      formVersions: selected.map((id) => ({ id, shortcode: 'f' })),
      since: sometimes(instants.get(pick(random, rows))),
      until: sometimes(instants.get(pick(random, rows))),
      userid: sometimes(pick(random, [['u1', 'u4'], MANY_USERS])),
      question_ref: sometimes(['q2', 'q3']),
    };
    const limit = 1 + Math.floor(random() * pick(random, [3, 150, 2000]));
    const isOlder = random() < 0.3;
    const [start, end] = [sometimes(pick(random, rows)), sometimes(pick(random, rows))];

    const passes = (row: Row, filters: Filters) =>
      selected.includes(row.surveyid) &&
      (instants.get(row) ?? 0n) >= (filters.since ?? 0n) &&
      (filters.until === undefined || (instants.get(row) ?? 0n) < filters.until) &&
      (filters.userid?.includes(row.userid) ?? true) &&
      (filters.question_ref?.includes(row.question_ref) ?? true);
    // A boundary is a row that no filter in an index discards.
    const { inIndex } = splitFilters(selection, order);
    const upTo = end && passes(end, inIndex) ? end : undefined;
    const inOrder = sorted.get(order) ?? [];
    const tieOf = (row: Row) => keyOf({ ...row, surveyid: '' }, order);
    const tie = start && isOlder ? tieOf(start) : undefined;
    const rowsTo = (last?: Row) =>
      inOrder
        .slice(start ? inOrder.indexOf(start) + 1 : 0, last && inOrder.indexOf(last) + 1)
        .filter((row) => passes(row, selection) && (tie === undefined || tieOf(row) !== tie));
    const range = {
      limit,
      after: start && cursorOf(start, isOlder),
      upTo: upTo && (cursorOf(upTo, false) as Required<Cursor>),
    };
    const expected = rowsTo(upTo)
      .slice(0, limit)
      .map((row) => COLUMNS.map((name) => row[name]));
    const pageRows = 1 + Math.floor(random() * 20);
    // Boundaries are found after a selected response.
    const matching = inOrder.filter((row) => passes(row, selection));
    const at = Math.floor(random() * matching.length);
    const last = matching[at];
    const boundaries = matching
      .slice(at + 1)
      .filter((_, i) => (i + 1) % pageRows === 0)
      .slice(0, 4)
      .map((row) => CURSOR_COLUMNS.map((name) => row[name]));
    const position = last && (cursorOf(last, false) as Required<Cursor>);
    expect({
      seed,
      trial,
      page: await read(pageQuery(selection, range, COLUMNS, { order }), true),
      boundaries: position
        ? await read(boundaryQuery(selection, position, pageRows, 4, order))
        : [],
      count: await read(countQuery(selection, range.after, order)),
    }).toEqual({
      seed,
      trial,
      page: expected,
      boundaries,
      count: [[String(rowsTo().length)]],
    });
  }
});
