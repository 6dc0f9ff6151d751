import { pick } from '../../support/random.ts';
import { cacheFaults, faults, passing } from './faults.ts';
import type { Kind } from './kinds.ts';
import type { Trial } from './trial.ts';
import type { World } from './world.ts';

/** The index of one of the requests to the database. */
export const someRequest = ({ requests }: Kind, random: () => number): number => Math.floor(random() * requests);

/**
 * Every fault alone, in random order: for few rows at each request to the database, for many rows at one in the middle; and every
 * fault of the key cache.
 */
export function singleFaults({ small, inParts, large }: World, random: () => number): Trial[] {
  const all = (kind: Kind) => Array.from({ length: kind.requests }, (_, index) => index);
  const middle = ({ requests }: Kind) => [1 + Math.floor(random() * (requests - 2))];
  const withFaults = (kinds: readonly Kind[], requestsOf: (kind: Kind) => number[]): Trial[] =>
    kinds.flatMap((kind) =>
      requestsOf(kind).flatMap((index) => faults.map((fault) => ({ kind, plan: new Map([[index, fault]]) }))),
    );
  const trials = [
    ...withFaults(small, all),
    ...withFaults([...inParts, ...large], middle),
    ...small.flatMap((kind) => cacheFaults.map((cache) => ({ kind, plan: new Map(), cache }))),
  ];
  return trials
    .map((trial) => ({ trial, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ trial }) => trial);
}

/**
 * One to three faults, at any requests. Requests share key lookups, so with a fault of the key cache only faults that a retry
 * overcomes are injected: other trials would fail as well.
 */
export function someTrial(kinds: readonly Kind[], random: () => number): Trial {
  const kind = pick(random, kinds);
  const cache = random() < 0.1 ? pick(random, cacheFaults) : undefined;
  const count = 1 + Math.floor(3 * random());
  const fault = () => pick(random, cache ? passing : faults);
  return { kind, plan: new Map(Array.from({ length: count }, () => [someRequest(kind, random), fault()])), cache };
}
