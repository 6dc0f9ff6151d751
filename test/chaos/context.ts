import type { TestAccount } from '../support/data.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import type { Stack } from '../support/stack.ts';
import type { Tags } from './checks/tags.ts';
import type { Random } from './model/random-data.ts';
import type { World } from './model/world.ts';
import type { Tally } from './tally.ts';

/** What all actions share. */
export interface Context {
  readonly stack: Stack;
  /** The process id of workerd; undefined where there is no /proc. */
  readonly workerd: number | undefined;
  /** Between the Worker and the SQL endpoint. */
  readonly proxy: FaultProxy;
  readonly world: World;
  /** An account that is not part of the world, with a survey `fuzzed`. */
  readonly hostile: TestAccount;
  readonly tags: Tags;
  /** Whether the response was whole, by `X-Request-Id`. */
  readonly served: Map<string, boolean>;
  readonly tally: Tally;
}

/** Something to do once. @throws Error that describes what is wrong */
export type Action = (context: Context, random: Random) => Promise<void>;
