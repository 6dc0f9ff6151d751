import { pick } from '../../support/random.ts';
import { cacheFaults, faults, passing } from './faults.ts';
import type { Kind } from './kinds.ts';
import { lies } from './lies.ts';
import { QUERY_TYPES } from './results.ts';
import type { FaultTrial, LieTrial } from './trial.ts';
import type { PairedKind, World } from './world.ts';

/** With more requests than this, their number depends on what else runs: the service reads smaller pages beside others. */
const ALWAYS_SENT = 6;

/** The number of first requests to the database that are sent whatever else runs. */
const surelySent = ({ requests }: Kind) => (requests <= ALWAYS_SENT ? requests : Math.ceil(requests / 2));

/** The index of one of the requests to the database. */
export const someRequest = (kind: Kind, random: () => number): number => Math.floor(random() * surelySent(kind));

/**
 * Every fault alone, in random order: for few rows at each request to the database, for many rows at one in the middle; and every
 * fault of the key cache.
 */
export function singleFaults({ small, inParts, large }: World, random: () => number): FaultTrial[] {
  const all = (kind: Kind) => Array.from({ length: kind.requests }, (_, index) => index);
  const middle = (kind: Kind) => [1 + Math.floor(random() * (surelySent(kind) - 1))];
  const withFaults = (kinds: readonly Kind[], requestsOf: (kind: Kind) => number[]): FaultTrial[] =>
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
export function someTrial(kinds: readonly Kind[], random: () => number): FaultTrial {
  const kind = pick(random, kinds);
  const cache = random() < 0.1 ? pick(random, cacheFaults) : undefined;
  const count = 1 + Math.floor(3 * random());
  const fault = () => pick(random, cache ? passing : faults);
  return { kind, plan: new Map(Array.from({ length: count }, () => [someRequest(kind, random), fault()])), cache };
}

/**
 * A lie about the first, the last or any result of a query: about that one result in most trials. While a client waits for a
 * status, it is rarely told about all results, because the service takes long to give up.
 */
export function someLie(kinds: readonly PairedKind[], random: () => number): LieTrial {
  const lie = pick(random, lies);
  const types = QUERY_TYPES.filter((type) => kinds.some((kind) => lie.places(kind, type).length > 0));
  const type = pick(random, types);
  const kind = pick(
    random,
    kinds.filter((of) => lie.places(of, type).length > 0),
  );
  const places = lie.places(kind, type);
  const place = [places[0], places.at(-1), pick(random, places)][Math.floor(3 * random())] ?? 0;
  const amount = random();
  const isSlow = kind.isPaged || place === places[0];
  const all = isSlow && amount >= 0.01 ? 'one' : 'all';
  return { kind, lie: { lie, type, dose: amount < 0.1 ? all : amount < 0.25 ? 'several' : 'one', place } };
}
