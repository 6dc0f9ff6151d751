/*
 * What the requests of one isolate may hold at a time, shared by account: docs/export.md, "What
 * runs at a time". A slot is a turn at the database, and the memory for its result and for what is
 * made from it. An isolate has 128 MB for all of them
 * (https://developers.cloudflare.com/workers/platform/limits/#memory).
 */

const MIB = 1024 * 1024;

/**
 * The kinds of slots, in the order in which a request takes them. A request that holds one never
 * waits for one of an earlier kind, so requests cannot wait for each other in a circle.
 *
 * - `own`: what each of {@link ACCOUNTS} accounts can hold, whatever others hold
 * - `shared`: what all accounts together can hold beyond that
 * - `most`: the most that one account can hold
 * - `waiting`, `waitMs`: how many requests of an account can wait, and how many milliseconds
 * - `bytes`: the size of a slot
 */
export const KINDS = {
  /** The request itself, with a body that is too small to keep another slot while it is sent. */
  request: { own: 8, shared: 80, most: 48, waiting: 0, waitMs: 0, bytes: 0.25 * MIB },
  /** A file, from before its first byte to its end. */
  file: { own: 1, shared: 7, most: 4, waiting: 4, waitMs: 5_000, bytes: 2.5 * MIB },
  /** A query that reads a whole selection. */
  scan: { own: 1, shared: 2, most: 2, waiting: 4, waitMs: 20_000, bytes: 0.5 * MIB },
  /** A count, or a query with a filter that no index holds. */
  walk: { own: 1, shared: 2, most: 2, waiting: 32, waitMs: 20_000, bytes: 1 * MIB },
  /** Any other query. */
  quick: { own: 1, shared: 4, most: 3, waiting: 32, waitMs: 20_000, bytes: 1 * MIB },
  /** A result that fits in no other slot. */
  large: { own: 0, shared: 1, most: 1, waiting: 4, waitMs: 5_000, bytes: 15 * MIB },
} as const;

export type Kind = keyof typeof KINDS;

const ORDER = Object.keys(KINDS) as Kind[];

/** How many accounts have slots of their own. Further accounts share what is left. */
export const ACCOUNTS = 10;

/** How many slots a file can borrow, alone, and how many several files can borrow together. */
const MOST_BORROWED = 7;
const SHARED_BORROWED = 4;

/**
 * How long a request keeps its slots after a query was aborted, in milliseconds: Postgres may still
 * be working on it.
 */
const ABORTED_MS = 2_000;
/**
 * A request that has not renewed its slots for so long has ended, in milliseconds: the runtime can
 * end a request without a word.
 */
const EXPIRES_MS = 60_000;
const RENEWS_MS = 5_000;

/** A request cannot have a slot. */
export class LimitError extends Error {
  override name = 'LimitError';
  readonly kind: Kind;
  /** How many the account holds, if its own requests hold what is missing; 0 if others do. */
  readonly held: number;
  /** Whether a request that holds one retries a query. */
  readonly isRetrying: boolean;

  constructor(kind: Kind, held: number, isRetrying: boolean) {
    super(`no slot for ${kind}`);
    this.kind = kind;
    this.held = held >= KINDS[kind].own ? held : 0;
    this.isRetrying = isRetrying;
  }
}

/**
 * The slots of one kind. What an account can take depends only on what is held. Whenever a slot is
 * released, all those get one that there is room for, the longest wait first.
 */
class Pool {
  readonly #kind: Kind;
  readonly holders = new Set<RequestSlots>();
  /** The requests that wait for a slot, by what tells them that they have it. */
  readonly #waiters = new Map<() => void, RequestSlots>();
  /** Those that have borrowed a slot, by what releases at once what is held in it. */
  readonly #loans = new Map<() => void, RequestSlots>();

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  /**
   * Takes a slot, after a wait if there is none.
   *
   * @throws LimitError if there is none in time, or if too many requests of the account wait already
   * @throws the signal's reason
   */
  async take(request: RequestSlots, signal: AbortSignal): Promise<void> {
    if (this.#tryTake(request)) return;

    const { waiting, waitMs } = KINDS[this.#kind];
    if (!request.hasBegun && countOf(this.#waiters.values(), request) >= waiting)
      throw this.#refusal(request);

    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => reject(signal.reason as Error);
    const timer = setTimeout(() => {
      if (!request.hasBegun) reject(this.#refusal(request));
    }, waitMs);
    signal.addEventListener('abort', leave);
    this.#waiters.set(resolve, request);
    try {
      await promise;
    } finally {
      this.#waiters.delete(resolve);
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  /** Releases the slot of a request, if it has one. */
  release(request: RequestSlots): void {
    if (!this.holders.delete(request)) return;

    for (const [resolve, waiter] of this.#waiters) {
      if (!this.#tryTake(waiter)) continue;
      this.#waiters.delete(resolve);
      resolve();
    }
  }

  /** Releases what a request that has ended holds, waits for or has borrowed. */
  drop(request: RequestSlots): void {
    for (const requests of [this.#waiters, this.#loans])
      for (const [key, owner] of requests) if (owner === request) requests.delete(key);
    this.release(request);
  }

  /**
   * Borrows a slot for reading ahead, if nobody else needs it.
   *
   * @param onEnd releases what is held in it, at once, because somebody else needs it now
   * @returns ends the loan; undefined if there is no slot to borrow
   */
  borrow(request: RequestSlots, onEnd: () => void): (() => void) | undefined {
    const { size } = this.holders;
    const most = size === 1 ? MOST_BORROWED : Math.floor(SHARED_BORROWED / size);
    const borrowed = [...this.#loans.values()].filter((owner) => owner === request).length;
    if (this.#free <= 0 || borrowed >= most) return undefined;

    this.#loans.set(onEnd, request);
    return () => this.#loans.delete(onEnd);
  }

  /** Takes a slot at once. @returns false if there is no room for the account */
  #tryTake(request: RequestSlots): boolean {
    if (!this.#hasRoom(request)) return false;

    this.holders.add(request);
    const lastLoan = [...this.#loans.keys()].at(-1);
    if (lastLoan && this.#free < 0) {
      this.#loans.delete(lastLoan);
      lastLoan();
    }
    return true;
  }

  /** How many slots nobody holds. */
  get #free(): number {
    const { own, shared } = KINDS[this.#kind];
    return ACCOUNTS * own + shared - this.holders.size - this.#loans.size;
  }

  /** Whether a request's account can have another slot. */
  #hasRoom(request: RequestSlots): boolean {
    const { own, shared, most } = KINDS[this.#kind];
    const holders = [...this.holders, request];
    const accounts = Map.groupBy(holders, ({ account }) => account);
    const owned = [...accounts.values()].slice(0, ACCOUNTS).flatMap((ones) => ones.slice(0, own));
    return countOf(holders, request) <= most && holders.length - owned.length <= shared;
  }

  #refusal(request: RequestSlots): LimitError {
    const isRetrying = [...this.holders].some((holder) => holder.isRetrying);
    return new LimitError(this.#kind, countOf(this.holders, request), isRetrying);
  }
}

/** How many of some requests are of the account of one. */
const countOf = (requests: Iterable<RequestSlots>, { account }: RequestSlots) =>
  [...requests].filter((request) => request.account === account).length;

const pools = Object.fromEntries(ORDER.map((kind) => [kind, new Pool(kind)])) as Record<Kind, Pool>;

/** The requests that can hold slots. */
const requests = new Set<RequestSlots>();

/** The slots of one request: at most one of each kind. */
export class RequestSlots {
  /** What the request is counted by. */
  readonly account: string;
  /** Whether its response has begun, which a refusal would abort. */
  hasBegun = false;
  /** Whether a query of it waits before another attempt. */
  isRetrying = false;
  /** Whether a query of it was aborted, so that it keeps its slots for {@link ABORTED_MS}. */
  wasAborted = false;
  /** Free the results that the request still has. Only who adds one deletes it. */
  readonly results = new Set<() => void>();
  #renewed = performance.now();
  /** Its timers end with the request. */
  readonly #timer = setInterval(() => this.#renew(), RENEWS_MS);

  constructor(account: string) {
    this.account = account;
    requests.add(this);
  }

  /** Whether it has a slot. */
  holds(kind: Kind): boolean {
    return pools[kind].holders.has(this);
  }

  /**
   * Takes a slot, after a wait if there is none, unless the request has one of this kind: queries
   * of a request that need the same kind run one after another.
   *
   * @throws LimitError if there is none in time, or if too many requests of the account wait already
   * @throws the signal's reason
   */
  async take(kind: Kind, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!requests.has(this)) throw new Error('the request has ended');
    if (this.holds(kind)) return;

    const later = ORDER.slice(ORDER.indexOf(kind)).find((one) => this.holds(one));
    if (later) throw new Error(`a slot for ${kind} has to be taken before one for ${later}`);
    await pools[kind].take(this, signal);
  }

  /** Borrows a slot for a page of a file: see {@link Pool.borrow}. */
  borrow(onEnd: () => void): (() => void) | undefined {
    return pools.file.borrow(this, onEnd);
  }

  /** Releases some of its slots, those that it has. */
  release(...kinds: readonly Kind[]): void {
    for (const kind of kinds) pools[kind].release(this);
  }

  /** Releases all but the slot of the request itself. */
  releaseWork(): void {
    this.release(...ORDER.slice(1));
  }

  /**
   * Releases everything.
   *
   * @param canFree whether to free its results too, which nothing must read from any more
   * @returns when all of it is released
   */
  async end(canFree = true): Promise<void> {
    if (canFree) for (const free of this.results) free();
    clearInterval(this.#timer);
    this.release('request');
    if (this.wasAborted) await new Promise((resolve) => setTimeout(resolve, ABORTED_MS));
    this.#drop();
  }

  /** Also drops requests that have ended without a word. */
  #renew(): void {
    this.#renewed = performance.now();
    for (const request of requests)
      if (this.#renewed - request.#renewed > EXPIRES_MS) request.#drop();
  }

  #drop(): void {
    requests.delete(this);
    for (const kind of ORDER) pools[kind].drop(this);
  }
}
