import { pick } from '../../support/random.ts';
import type { Random } from '../model/random-data.ts';
import { KINDS, type Kind, SMALL } from '../requests/kinds.ts';
import { type Lie, lies } from './lies.ts';
import { QUERY_TYPES, type QueryType } from './results.ts';
import type { Rehearsal } from './rehearsal.ts';
import { type VisibleFault, cacheFaults, faults } from './visible.ts';

/** A kind of request, and what happens to it. */
export type Combination =
  | { readonly kind: Kind; readonly fault: VisibleFault }
  | { readonly kind: Kind; readonly cache: string }
  | { readonly lie: Lie; readonly type: QueryType };

/** Every combination of a request and a fault, and of a wrong result and a type of query, in random order. */
export class Deck {
  readonly total: number;
  readonly #left: Combination[];
  readonly #all: readonly Combination[];
  readonly #random: Random;

  constructor(random: Random, rehearsals: readonly Rehearsal[]) {
    const all: Combination[] = [
      ...KINDS.flatMap((kind) =>
        faults.filter(({ name }) => isPossible(name, kind, rehearsals)).map((fault) => ({ kind, fault })),
      ),
      ...SMALL.flatMap((kind) => cacheFaults.map((cache) => ({ kind, cache }))),
      ...lies.flatMap((lie) =>
        QUERY_TYPES.filter((type) => placesOf(lie, type, rehearsals).length > 0).map((type) => ({ lie, type })),
      ),
    ];
    this.#random = random;
    this.#all = all;
    this.#left = all
      .map((combination) => ({ combination, order: random() }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ combination }) => combination);
    this.total = all.length;
  }

  get done(): number {
    return this.total - this.#left.length;
  }

  /** The next combination of pages, or of anything else; any of these, once all have been reached. */
  next(ofPages: boolean): Combination {
    const fits = (one: Combination) => ('kind' in one && (one.kind.path === '/responses') === ofPages) || 'lie' in one;
    const at = this.#left.findLastIndex(fits);
    return this.#left.splice(at, at < 0 ? 0 : 1)[0] ?? pick(this.#random, this.#all.filter(fits));
  }

  /** Returns a combination whose fault was not reached, to be tried later. */
  putBack(combination: Combination): void {
    this.#left.unshift(combination);
  }
}

/** Requests of whose queries a lie can alter one. */
export const placesOf = (lie: Lie, type: QueryType, rehearsals: readonly Rehearsal[]): Rehearsal[] =>
  rehearsals.filter((rehearsal) => lie.places(rehearsal, type).length > 0);

/** A request without requests to the database has no fault of them. */
const isPossible = (_: string, kind: Kind, rehearsals: readonly Rehearsal[]) =>
  rehearsals.some((rehearsal) => rehearsal.kind === kind && rehearsal.requests > 0);
