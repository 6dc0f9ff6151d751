import type { TestAccount } from '../support/data.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import type { Random } from '../support/random.ts';
import type { Stack } from '../support/stack.ts';
import type { World } from './model/world.ts';

/** What all actions share. */
export interface Context {
  readonly stack: Stack;
  /** Between the Worker and the SQL endpoint. */
  readonly proxy: FaultProxy;
  readonly world: World;
  /** An account that is not part of the world, with a survey `fuzzed`. */
  readonly hostile: TestAccount;
  /**
   * The account and the body that each entity tag identifies: those of the first response that had
   * it.
   */
  readonly tags: Map<string, string>;
  /** Whether the response was whole, by `X-Request-Id`. */
  readonly served: Map<string, boolean>;
  readonly tally: Tally;
}

/** Something to do once. @throws Error that describes what is wrong */
export type Action = (context: Context, random: Random) => Promise<void>;

/** What a run has done and found. */
export class Tally {
  /** How often each check passed. */
  readonly passed = new Map<string, number>();
  readonly problems: string[] = [];

  pass(check: string): void {
    this.passed.set(check, (this.passed.get(check) ?? 0) + 1);
  }

  fail(problem: string): void {
    this.problems.push(problem);
  }
}
