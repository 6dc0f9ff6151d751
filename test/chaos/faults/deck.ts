import { type Random, pick } from '../../support/random.ts';
import type { Sized } from '../model/random-data.ts';
import { PATHS, type Path } from '../requests/request.ts';
import type { InjectedFault } from './fault.ts';
import { lies } from './lies.ts';
import { cacheFaults, lasting, passing } from './visible.ts';

/** A kind of requests for one of the large surveys, which every fault is combined with. */
export interface Kind {
  readonly path: Path;
  readonly layout?: 'long' | 'wide';
  readonly survey: Sized;
  /** The SQL endpoint's limit for a result. */
  readonly maxBytes: number;
}

const kinds = (survey: Sized, maxBytes: number, paths: readonly Path[]): Kind[] =>
  paths.flatMap((path): Kind[] => {
    const kind = { path, survey, maxBytes };
    const isTable = path === '/responses/csv' || path === '/responses/xlsx';
    if (!isTable) return [kind];
    return [
      { ...kind, layout: 'long' },
      { ...kind, layout: 'wide' },
    ];
  });

export const KINDS: readonly Kind[] = [
  // A few requests to the database.
  ...kinds('few rows', Infinity, PATHS),
  // Many requests to the database, one after another.
  ...kinds('few rows', 100_000, ['/responses', '/responses/csv', '/responses/ndjson', '/responses/xlsx']),
  // Many requests to the database, in parallel.
  ...kinds('many bytes', Infinity, ['/responses/csv', '/responses/ndjson', '/responses/xlsx']),
  // Many requests in parallel, for pages that several queries plan. Excel takes no texts that long.
  ...kinds('many pages', 500_000, ['/responses/csv', '/responses/ndjson']),
];

export const faults: readonly InjectedFault[] = [...passing, ...lasting, ...lies];

/** A kind of request, and what happens to it: to one of its requests to the database, or to its reads of the key cache. */
export interface Combination {
  readonly kind: Kind;
  readonly fault: InjectedFault | string;
}

/** Every combination of a kind of request and a fault, in random order. */
export class Deck {
  readonly #random: Random;
  readonly #all: readonly Combination[];
  readonly #left: Combination[];

  constructor(random: Random) {
    this.#random = random;
    const ofDatabase = KINDS.filter(({ path }) => path !== '/key');
    const ofCache = KINDS.filter(({ survey }) => survey === 'few rows');
    this.#all = [
      ...ofDatabase.flatMap((kind) => faults.map((fault) => ({ kind, fault }))),
      ...ofCache.flatMap((kind) => cacheFaults.map((fault) => ({ kind, fault }))),
    ];
    const order = new Map(this.#all.map((combination) => [combination, random()]));
    this.#left = this.#all.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  }

  /** The next combination of pages, or of anything else; any of these, once all have been reached. */
  next(ofPages: boolean): Combination {
    const fits = ({ kind }: Combination) => (kind.path === '/responses') === ofPages;
    const at = this.#left.findLastIndex(fits);
    return this.#left.splice(at, at < 0 ? 0 : 1)[0] ?? pick(this.#random, this.#all.filter(fits));
  }

  /** Returns a combination whose fault was not reached, to be tried later. */
  putBack(combination: Combination): void {
    this.#left.unshift(combination);
  }

  toString(): string {
    return `${this.#all.length - this.#left.length} of ${this.#all.length} combinations of a request and a fault`;
  }
}
