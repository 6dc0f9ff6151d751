import type { Lease } from './lease.ts';

/** How a resource of an isolate is divided among accounts. */
export interface Division {
  /** What each of {@link PLACES} accounts can hold, whatever others hold. */
  readonly place: number;
  /** What all accounts can hold beyond their places. */
  readonly common: number;
  /** What one account can hold at the moment. */
  readonly most?: (account: string) => number;
  /** Whether the places of accounts that hold nothing are part of what is common until those accounts come. */
  readonly lendsPlaces?: boolean;
  /** How many requests of an account can wait whose response has not begun. */
  readonly waiting: number;
}

/** How many accounts have a place of their own. What further accounts hold comes from the common part. */
export const PLACES = 10;

/** A request that waits for its share. */
interface Waiting {
  readonly lease: Lease;
  readonly amount: number;
  readonly end: (isGranted: boolean) => void;
}

/** A resource that accounts share. What a request releases is granted to those that wait for it, in their order. */
export class Shares {
  readonly #division: Division;
  /** What each account holds, in the order in which they came. */
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();

  constructor(division: Division) {
    this.#division = division;
  }

  /** The number of accounts that hold something. */
  get accounts(): number {
    return this.#held.size;
  }

  /** What all accounts hold. */
  get total(): number {
    return [...this.#held.values()].reduce((sum, held) => sum + held, 0);
  }

  /** Whether a request waits. */
  get isAwaited(): boolean {
    this.#forgetEnded();
    return this.#waiting.size > 0;
  }

  heldBy(account: string): number {
    return this.#held.get(account) ?? 0;
  }

  /** Whether an account holds its place, so that what it lacks is in its own hands. */
  holdsPlace(account: string): boolean {
    return this.heldBy(account) >= this.#division.place;
  }

  /** What an account can take at the moment. */
  roomFor(account: string): number {
    const { place, common, most = () => Infinity, lendsPlaces = false } = this.#division;
    const present = this.#held.size + (this.#held.has(account) ? 0 : 1);
    let free = common + (lendsPlaces ? place * Math.max(0, PLACES - present) : 0);
    let own = 0;
    let accounts = 0;
    for (const [other, held] of this.#held) {
      const otherPlace = accounts++ < PLACES ? place : 0;
      if (other === account) own = otherPlace;
      else free -= Math.max(0, held - otherPlace);
    }
    if (!this.#held.has(account)) own = accounts < PLACES ? place : 0;
    return Math.min(Math.max(0, free) + own, most(account)) - this.heldBy(account);
  }

  /** Counts what a lease takes; negative for what it releases. */
  count(account: string, amount: number): void {
    const held = this.heldBy(account) + amount;
    if (held > 0) this.#held.set(account, held);
    else this.#held.delete(account);
    if (amount < 0) this.#grant();
  }

  /**
   * Waits for a share.
   *
   * @param ms the longest wait, in milliseconds; without a limit if undefined
   * @returns false if there is none in time, or if too many requests of the account wait already
   * @throws the signal's reason
   */
  async wait(lease: Lease, amount: number, ms: number | undefined, signal: AbortSignal): Promise<boolean> {
    const { account } = lease;
    this.#forgetEnded();
    const ofAccount = [...this.#waiting].filter(
      ({ lease: other }) => other.account === account && !other.hasBegun,
    ).length;
    if (!lease.hasBegun && ofAccount >= this.#division.waiting) return false;
    const { promise, resolve: end } = Promise.withResolvers<boolean>();
    const waiting: Waiting = { lease, amount, end };
    const stop = () => {
      this.#waiting.delete(waiting); // at once: the request may end before it goes on
      end(false);
    };
    const timer = ms === undefined ? undefined : setTimeout(stop, ms);
    signal.addEventListener('abort', stop);
    this.#waiting.add(waiting);
    const isGranted = await promise;
    if (timer !== undefined) clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    if (signal.aborted && isGranted) lease.release(this, amount);
    signal.throwIfAborted();
    return isGranted;
  }

  #grant(): void {
    this.#forgetEnded();
    for (const waiting of this.#waiting) {
      const { lease, amount, end } = waiting;
      if (this.roomFor(lease.account) < amount) continue;
      this.#waiting.delete(waiting);
      lease.count(this, amount);
      end(true);
    }
  }

  /** A request can end while a part of it waits, for example because another part has failed. */
  #forgetEnded(): void {
    for (const waiting of this.#waiting) if (waiting.lease.hasEnded) this.#waiting.delete(waiting);
  }
}
