import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { KINDS, type Kind } from '../../src/limits/slots.ts';
import { query } from '../support/api.ts';
import { type TestAccount, createAccount, createBulkSurvey, sql } from '../support/data.ts';
import { open } from '../support/export.ts';
import { heldMemory } from '../chaos/checks/memory.ts';
import { useStack } from '../support/stack-address.ts';
import { startStack } from '../support/stack.ts';

/*
 * The memory that requests hold, measured as what is left of the Worker's objects and buffers after
 * a garbage collection. The benchmark measures the process, which also has garbage.
 */

const ACCOUNTS = 12;
/** What code and caches hold at most, in MiB. */
const MOST_IDLE = 4;
/** The inspector serves one connection at a time. */
const PAUSE_MS = 600;
/** What requests of many accounts hold at most, in MiB, although their slots add up to more. */
const MOST = 48;

const stack = await startStack({ inspector: true });
useStack(stack.address);
afterAll(() => stack.stop());

const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, createAccount));
const account = (i: number) => accounts[i % ACCOUNTS] as TestAccount;

/** Creates a survey of generated responses. */
const addSurvey = (of: TestAccount, name: string, rows: number, columns: Record<string, string>) =>
  createBulkSurvey(of, { name, rows, forms: 1, columns: { question_idx: 'n % 5000', ...columns } });

/** Adds form versions with 100 KB of metadata each. */
async function addFormVersions(of: TestAccount, count: number): Promise<void> {
  await sql(
    `insert into surveys (userid, survey_name, shortcode, title, formid, metadata)
     select $1, 'mixed', 'f' || i, 'Title', 'form', jsonb_build_object('text', repeat('x', 100000))
     from generate_series(1, $2::int) i`,
    [of.id, count],
  );
}

await Promise.all([
  addSurvey(account(0), 'large', 26, { response: `repeat('x', 600000)` }),
  ...accounts
    .slice(0, 3)
    .map((one) => addSurvey(one, 'escaped', 500, { response: `repeat(chr(1), 8000)` })),
  addSurvey(account(0), 'participant', 260_000, {
    userid: `'u'`,
    question_ref: `'q' || n % 5000`,
    parent_shortcode: `'p' || n / 5000`,
  }),
  ...accounts.map((one) => addSurvey(one, 'mixed', 1500, { response: `n || repeat('x', 4096)` })),
]);
for (const [i, one] of accounts.entries()) await addFormVersions(one, i === 0 ? 200 : 40);

const of = (survey: string, more: Record<string, string | number> = {}) =>
  query({ survey, ...more });

/** A request of each kind. Their number has no divisor in common with that of the accounts. */
const kinds = [
  `/responses/csv${of('mixed')}`,
  `/responses/csv${of('mixed', { layout: 'wide' })}`,
  `/responses/ndjson${of('mixed')}`,
  `/responses/xlsx${of('mixed')}`,
  `/responses/xlsx${of('mixed', { layout: 'wide' })}`,
  ...[100, 1000, 5000, 10_000].map((pageSize) => `/responses${of('mixed', { pageSize })}`),
  `/responses/form-data${of('mixed')}`,
  `/responses/questions${of('mixed')}`,
  `/responses/summary${of('mixed')}`,
  '/surveys',
];

/**
 * So many requests of these paths in turn, by so many accounts, whose clients do not read, and
 * the slots that they can have besides their own, with those that files borrow.
 */
const cases: [
  what: string,
  count: number,
  paths: readonly string[],
  users: number,
  slots: Partial<Record<Kind, number>>,
][] = [
  ['ten lists of surveys of 20 MB', 10, ['/surveys'], 1, { quick: 3 }],
  ['8 pages of 25 answers of 600 KB', 8, [`/responses${of('large')}`], 1, { quick: 3, large: 1 }],
  [
    'two wide files of a participant with 260,000 answers',
    2,
    [`/responses/csv${of('participant', { layout: 'wide' })}`],
    1,
    { file: 2 + 4, large: 1 },
  ],
  [
    '12 NDJSON files of control characters',
    12,
    [`/responses/ndjson${of('escaped')}`],
    3,
    { file: 14 },
  ],
  [
    '52 downloads of every kind',
    52,
    kinds,
    ACCOUNTS,
    { file: 14, scan: 12, walk: 12, quick: 14, large: 1 },
  ],
];

test.each(cases)(
  'requests that are not read hold no more than their slots: %s',
  async (_, count, paths, users, slots) => {
    const counted = Object.entries({ ...slots, request: count }) as [Kind, number][];
    const bytes = counted.reduce((sum, [kind, most]) => sum + most * KINDS[kind].bytes, 0);
    // Started at 100 a second.
    const responses = await Promise.all(
      Array.from({ length: count }, async (__, i) => {
        await sleep(10 * i);
        return (await open(paths[i % paths.length] as string, account(i % users))).pause();
      }),
    );
    const statuses = new Set(responses.map(({ statusCode }) => statusCode));
    expect(statuses).toContain(200);
    for (const status of statuses) expect([200, 429, 503]).toContain(status);
    const held: number[] = [];
    do {
      await sleep(PAUSE_MS);
      held.push(await heldMemory(stack.worker));
      // until the pages ahead have been read
    } while (Math.abs((held.at(-1) ?? 0) - (held.at(-2) ?? 0)) > 1);
    // with a reset, which the runtime notices at once
    for (const { socket } of responses) socket.resetAndDestroy();
    let idle = 0;
    await expect
      .poll(async () => (idle = await heldMemory(stack.worker)), { interval: PAUSE_MS })
      .toBeLessThanOrEqual(MOST_IDLE);
    const most = Math.max(...held);
    expect(most).toBeLessThanOrEqual(MOST);
    expect(most - idle).toBeLessThanOrEqual(bytes / 2 ** 20);
  },
);
