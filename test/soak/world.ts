import { workerdStartedBy } from '../../bench/process-stats.ts';
import { type TestAccount, type TestSurvey, createAccount, createSurvey, sql } from '../support/data.ts';
import { randomFrom } from '../support/random.ts';
import { useStack } from '../support/stack-address.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { type Known, insertRows } from './rows.ts';

/** One of two accounts whose surveys have the same name. */
export interface Tenant {
  /** Names the account in the text of its responses. */
  readonly letter: string;
  readonly account: TestAccount;
  readonly survey: TestSurvey;
  /** Responses 0 to `stored - 1` are committed. */
  stored: number;
  /** Responses up to `storing - 1` may be committed. */
  storing: number;
}

/** State that all actions share. */
export interface World {
  readonly stack: Stack;
  /** The process id of workerd; undefined where there is no /proc. */
  readonly workerd: number | undefined;
  readonly random: () => number;
  readonly tenants: readonly Tenant[];
  /** How often each check passed. */
  readonly passed: Map<string, number>;
  readonly problems: string[];
  /** Rows in all files. */
  rows: number;
  /** Rows that were missing in a file. */
  lost: number;
}

/** @param options.rows responses of each account */
export async function createWorld({ rows, seed }: { rows: number; seed: number }): Promise<World> {
  const start = () => startStack({ inspector: true });
  const { started: stack, workerd } =
    process.platform === 'linux' ? await workerdStartedBy(start) : { started: await start(), workerd: undefined };
  useStack(stack.address);
  const tenants: Tenant[] = [];
  for (const letter of ['A', 'B']) {
    const account = await createAccount();
    const survey = await createSurvey(account, 'soak', 2);
    await insertRows(survey, letter, 0, rows);
    tenants.push({ letter, account, survey, stored: rows, storing: rows });
  }
  await sql('vacuum analyze responses');
  return { stack, workerd, random: randomFrom(seed), tenants, passed: new Map(), problems: [], rows: 0, lost: 0 };
}

/** Records before a request which responses are stored. Call the returned function after the response. */
export function snapshot(tenant: Tenant): () => Known {
  const atLeast = tenant.stored;
  return () => ({ letter: tenant.letter, atLeast, below: tenant.storing });
}

export function pass(world: World, name: string): void {
  world.passed.set(name, (world.passed.get(name) ?? 0) + 1);
}

export function fail(world: World, problem: string): void {
  if (world.problems.length < 100) world.problems.push(problem);
}
