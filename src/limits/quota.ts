import type { Lease } from './lease.ts';

/** How a resource of an isolate is divided among accounts. */
export interface Division {
  /** What each of {@link ACCOUNTS} accounts can hold, whatever others hold. */
  readonly reserved: number;
  /** What all accounts can hold beyond that. */
  readonly shared: number;
  /** The most that one account can hold. */
  readonly most?: number;
  /**
   * Whether what is reserved for accounts that hold nothing is shared until those accounts come.
   */
  readonly lends?: boolean;
  /** How many requests of an account can wait whose response has not begun. */
  readonly waiting?: number;
  /** How long they wait, in milliseconds. */
  readonly waitMs: number;
  /**
   * How long those wait whose response has begun, which a refusal would abort: as long as a timer
   * can run unless given.
   */
  readonly begunWaitMs?: number;
}

/**
 * How many accounts have a reserved part. What further accounts hold comes from the shared part.
 */
export const ACCOUNTS = 10;

/** A request cannot have what it needs. */
export class LimitError extends Error {
  override name = 'LimitError';
  readonly resource: 'memory' | 'exports' | 'scans' | 'queries';
  /** What the request's account holds already. */
  readonly held: number;
  /**
   * Whether the account holds what is reserved for it, so that its own requests hold what is
   * missing.
   */
  readonly isByAccount: boolean;

  constructor(resource: LimitError['resource'], held: number, isByAccount: boolean) {
    super(`no room for ${resource}`);
    this.resource = resource;
    this.held = held;
    this.isByAccount = isByAccount;
  }
}

/** A request that takes from a quota. */
type Holder = Pick<Lease, 'account' | 'hasBegun' | 'hasEnded'>;

interface Waiting {
  readonly holder: Holder;
  readonly take: () => boolean;
  readonly resolve: () => void;
}

/**
 * A resource that accounts share. What an account can take depends only on what is held. Whenever
 * something is released, all that there is room for get what they wait for, the longest wait first.
 */
export class Quota {
  readonly #resource: LimitError['resource'];
  readonly #division: Division;
  /** What each account holds, in the order in which they came. Only `take` changes it. */
  readonly held = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();

  constructor(resource: LimitError['resource'], division: Division) {
    this.#resource = resource;
    this.#division = division;
  }

  /** What all accounts hold. */
  get total(): number {
    return [...this.held.values()].reduce((sum, held) => sum + held, 0);
  }

  heldBy(account: string): number {
    return this.held.get(account) ?? 0;
  }

  /** Whether a request waits. */
  get isAwaited(): boolean {
    return [...this.#waiting].some(({ holder }) => !holder.hasEnded);
  }

  /** What an account can take; negative if it holds more than it can have. */
  roomFor(account: string): number {
    const { reserved, shared, most = Infinity, lends = false } = this.#division;
    const isNew = !this.held.has(account);
    const accounts = this.held.size + Number(isNew);
    let free = shared + (lends ? reserved * Math.max(0, ACCOUNTS - accounts) : 0);
    let own = isNew && accounts <= ACCOUNTS ? reserved : 0;
    let position = 0;
    for (const [other, held] of this.held) {
      const part = position++ < ACCOUNTS ? reserved : 0;
      if (other === account) own = part;
      else free -= Math.max(0, held - part);
    }
    return Math.min(Math.max(0, free) + own, most) - this.heldBy(account);
  }

  /**
   * Counts what an account takes or, if negative, releases. @returns false if there is no room;
   * nothing has changed then
   */
  take(account: string, amount: number): boolean {
    if (amount > 0 && this.roomFor(account) < amount) return false;
    const held = this.heldBy(account) + amount;
    if (held > 0) this.held.set(account, held);
    else this.held.delete(account);
    return true;
  }

  /**
   * Gives those that wait what there is room for. To be called after every release. @param by the
   * request that released something
   */
  serve(by: Holder): void {
    const full = new Set<string>();
    for (const waiting of this.#waiting) {
      const { holder, take, resolve } = waiting;
      if (full.has(holder.account) && holder !== by) continue; // thousands can wait
      if (!holder.hasEnded && !take()) {
        if (this.roomFor(holder.account) <= 0) full.add(holder.account);
        continue;
      }
      this.#waiting.delete(waiting);
      if (!holder.hasEnded) resolve(); // a part of a request can wait when another part has failed
    }
  }

  /**
   * Waits until there is room.
   *
   * @param take takes what is waited for, at once, since the request continues later; returns false
   * if there is no room yet
   * @throws LimitError if there is none in time, or if too many requests of the account wait
   * already
   * @throws the signal's reason
   */
  async wait(holder: Holder, take: () => boolean, signal: AbortSignal): Promise<void> {
    const { account, hasBegun } = holder;
    const { waiting: most = Infinity, waitMs, begunWaitMs = 2 ** 31 - 1 } = this.#division;
    const isCounted = ({ holder: one }: Waiting) =>
      one.account === account && !one.hasBegun && !one.hasEnded;
    if (
      !hasBegun &&
      this.#waiting.size >= most &&
      [...this.#waiting].filter(isCounted).length >= most
    )
      throw this.#refusal(account);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { holder, take, resolve };
    const stop = (reason: () => unknown) => this.#waiting.delete(waiting) && reject(reason());
    const leave = () => stop(() => signal.reason);
    const timer = setTimeout(stop, hasBegun ? begunWaitMs : waitMs, () => this.#refusal(account));
    signal.addEventListener('abort', leave);
    this.#waiting.add(waiting);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  #refusal(account: string): LimitError {
    const held = this.heldBy(account);
    return new LimitError(this.#resource, held, held >= this.#division.reserved);
  }
}
