import { isDeepStrictEqual } from 'node:util';
import type { Exchange } from '../../support/fault-proxy.ts';
import type { Rehearsal } from './rehearsal.ts';
import { type About, type LiePlan, SEVERAL } from './lies.ts';
import { QueryCounts, type SqlResult, parseResult } from './results.ts';

/** How long a result waits for another one to be swapped with. */
const SWAP_MS = 500;

/** A result that waits to be swapped. */
interface Waiting {
  readonly kind: Rehearsal;
  readonly result: SqlResult;
  readonly resolve: (result: SqlResult | undefined) => void;
}

/** Tells the lies of one trial: of a request, or of two that are sent at the same time. */
export class Liar {
  /** The number of altered results. */
  told = 0;
  readonly #plan: LiePlan;
  readonly #random: () => number;
  #chosen = 0;
  #waiting: Waiting | undefined;

  constructor(plan: LiePlan, random: () => number) {
    this.#plan = plan;
    this.#random = random;
  }

  /** @returns the fault for one of the trial's requests, to be set before it is sent */
  faultFor(kind: Rehearsal, other: Rehearsal): (exchange: Exchange) => void {
    const { type, lie } = this.#plan;
    const counts = new QueryCounts();
    const earlier: SqlResult[] = [];
    return (exchange) => {
      exchange.refuseLonger(kind.kind.maxResultBytes);
      const query = counts.next(exchange);
      if (query?.type !== type) return;
      const { tell } = lie;
      if ('lowersLimit' in tell) {
        this.#lowerLimit(kind, query, exchange);
        return;
      }
      exchange.change(async (body) => {
        const own = parseResult(body);
        const about: About = {
          query,
          other,
          earlier: [...earlier],
          swap: () => this.#swap(kind, own),
          random: this.#random,
        };
        const result = this.#isChosen(query.at, kind) ? await tell.alter(own, about) : undefined;
        earlier.push(own);
        if (!result || isDeepStrictEqual(result, own)) return body;
        this.told++;
        return JSON.stringify(result);
      });
    };
  }

  #isChosen(at: number, kind: Rehearsal): boolean {
    const { dose, place } = this.#plan;
    if (this.#isAwaited(kind)) return true;
    if (dose === 'several' ? this.#random() >= SEVERAL : at < place) return false;
    return this.#chosen++ === 0 || dose !== 'one';
  }

  #isAwaited(kind: Rehearsal): boolean {
    return this.#waiting !== undefined && (this.#waiting.kind !== kind || !this.#plan.lie.withOther);
  }

  #swap(kind: Rehearsal, result: SqlResult): Promise<SqlResult | undefined> {
    const { promise, resolve } = Promise.withResolvers<SqlResult | undefined>();
    if (this.#isAwaited(kind)) {
      this.#waiting?.resolve(result);
      resolve(this.#waiting?.result);
      this.#waiting = undefined;
    } else if (this.#waiting) {
      resolve(undefined);
    } else {
      const waiting = { kind, result, resolve };
      this.#waiting = waiting;
      setTimeout(() => {
        if (this.#waiting === waiting) this.#waiting = undefined;
        resolve(undefined);
      }, SWAP_MS);
    }
    return promise;
  }

  #lowerLimit(kind: Rehearsal, { at }: About['query'], exchange: Exchange): void {
    const index = limitIndex(exchange.query);
    if (index < 0 || !this.#isChosen(at, kind)) return;
    const limit = Number(exchange.params[index]);
    const lowered = Math.floor(limit ** this.#random()); // low ones as often as high ones
    if (lowered < limit) this.told++;
    exchange.replaceParams(exchange.params.with(index, String(lowered)));
  }
}

/** The index of the parameter with a query's limit; -1 if there is none. */
const limitIndex = (query: string): number => Number(/\blimit \$(\d+)/.exec(query)?.[1] ?? 0) - 1;
