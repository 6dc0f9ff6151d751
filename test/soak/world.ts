import { randomUUID } from 'node:crypto';
import { workerdStartedBy } from '../../bench/process-stats.ts';
import { type TestAccount, type TestSurvey, createAccount, createSurvey, sql } from '../support/data.ts';
import { useStack } from '../support/stack-address.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { type Known, insertRows } from './rows.ts';

/** One of two accounts that have a survey of the same name. */
export interface Side {
  readonly owner: string;
  readonly account: TestAccount;
  readonly survey: TestSurvey;
  /** Responses that are stored for certain. */
  stored: number;
  /** The end of those that are being stored. */
  storing: number;
}

/** What everybody in a soak shares. */
export interface World {
  readonly stack: Stack;
  /** The process, where /proc tells of it. */
  readonly workerd: number | undefined;
  readonly sides: readonly Side[];
  /** What was done, counted by name. */
  readonly done: Map<string, number>;
  readonly problems: string[];
  rows: number;
  lost: number;
}

/** @param rows responses of each account */
export async function createWorld(rows: number): Promise<World> {
  const start = () => startStack({ inspector: true });
  const { started: stack, workerd } =
    process.platform === 'linux' ? await workerdStartedBy(start) : { started: await start(), workerd: undefined };
  useStack(stack.address);
  const name = `soak ${randomUUID()}`;
  const sides: Side[] = [];
  for (const owner of ['A', 'B']) {
    const account = await createAccount();
    const survey = await createSurvey(account, name, 2);
    await insertRows(survey, owner, 0, rows);
    sides.push({ owner, account, survey, stored: rows, storing: rows });
  }
  await sql('vacuum analyze responses');
  return { stack, workerd, sides, done: new Map(), problems: [], rows: 0, lost: 0 };
}

/** Notes what is known of a side before a request; to be completed behind it. */
export function look(side: Side): () => Known {
  const atLeast = side.stored;
  return () => ({ owner: side.owner, atLeast, below: side.storing });
}

export function count(world: World, what: string): void {
  world.done.set(what, (world.done.get(what) ?? 0) + 1);
}

export function complain(world: World, what: string): void {
  if (world.problems.length < 100) world.problems.push(what);
}
