import { pick } from '../../support/random.ts';
import type { Random } from '../model/random-data.ts';
import { KINDS, type Kind } from '../requests/kinds.ts';
import type { InjectedFault } from './fault.ts';
import { lies } from './lies.ts';
import { cacheFaults, visible } from './visible.ts';

export const faults: readonly InjectedFault[] = [...visible, ...lies];

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
    this.#all = [
      ...KINDS.filter(({ path }) => path !== '/key').flatMap((kind) => faults.map((fault) => ({ kind, fault }))),
      ...KINDS.filter(({ survey }) => survey === 'few rows').flatMap((kind) =>
        cacheFaults.map((fault) => ({ kind, fault })),
      ),
    ];
    this.#left = this.#all
      .map((combination) => ({ combination, order: random() }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ combination }) => combination);
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
