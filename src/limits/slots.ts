/*
 * What the requests of one isolate may hold at a time, shared by account: docs/export.md, "What
 * runs at a time". A slot is a turn at the database, and the memory for its result and for what is
 * made from it. An isolate has 128 MB for all of them
 * (https://developers.cloudflare.com/workers/platform/limits/#memory).
 */

const MIB = 1024 * 1024;

/** How the slots of a kind are divided among accounts. */
interface Division {
  /** What each of {@link ACCOUNTS} accounts can hold, whatever others hold. */
  readonly own: number;
  /** What all accounts together can hold beyond that. */
  readonly shared: number;
  /** The most that one account can hold. */
  readonly most: number;
  /** How many requests of an account can wait whose response has not begun. */
  readonly waiting: number;
  /** How long they wait, in milliseconds. */
  readonly waitMs: number;
  /** The size of a slot, in bytes. */
  readonly bytes: number;
}

/**
 * The kinds of slots, in the order in which a request takes them. A request that holds one never
 * waits for one of an earlier kind, so requests cannot wait for each other in a circle.
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
} as const satisfies Record<string, Division>;

export type Kind = keyof typeof KINDS;

const ORDER = Object.keys(KINDS) as Kind[];

/** How many accounts have slots of their own. Further accounts share what is left. */
export const ACCOUNTS = 10;

/** How many slots a file can borrow, alone, and how many several files can borrow together. */
const MOST_BORROWED = 7;
const SHARED_BORROWED = 4;

/**
 * How long a slot stays taken after its query was aborted, in milliseconds: Postgres may still be
 * working on it.
 */
const ABORTED_MS = 2_000;
/**
 * A request that has not renewed its slots for so long has ended, in milliseconds: the runtime can
 * end a request without a word.
 */
const EXPIRES_MS = 60_000;
const RENEWS_MS = 5_000;
/** As long as a timer can run, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A request cannot have a slot. */
export class LimitError extends Error {
  override name = 'LimitError';
  readonly kind: Kind;
  /** How many of them the request's account holds. */
  readonly held: number;
  /** Whether that is its own part, so that what is missing is held by its own requests. */
  readonly isByAccount: boolean;
  /** Whether a query is retried in such a slot. */
  readonly isRetrying: boolean;

  constructor(kind: Kind, held: number, isRetrying: boolean) {
    super(`no slot for ${kind}`);
    this.kind = kind;
    this.held = held;
    this.isByAccount = held > 0 && held >= KINDS[kind].own;
    this.isRetrying = isRetrying;
  }
}

/** A slot that a request holds. */
export interface Slot {
  readonly kind: Kind;
  readonly account: string;
  /** Whether its query waits before another attempt. */
  isRetrying: boolean;
  /** Whether its query was aborted. */
  wasAborted: boolean;
}

/** A request that waits for a slot. */
interface Waiter {
  readonly request: RequestSlots;
  readonly resolve: () => void;
}

/** A slot for reading ahead, which nobody else needs at the moment. */
interface Loan {
  readonly request: RequestSlots;
  /** Releases what is held in it, at once. */
  readonly end: () => void;
}

/**
 * The slots of one kind. What an account can take depends only on what is held. Whenever a slot is
 * released, all those get one that there is room for, the longest wait first.
 */
class Pool {
  readonly #kind: Kind;
  /** The slots of each account, in the order in which the accounts came. */
  readonly #held = new Map<string, Set<Slot>>();
  readonly #waiters = new Set<Waiter>();
  readonly #loans = new Set<Loan>();

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  /** Takes a slot at once. @returns false if there is no room for the account */
  tryTake({ account, held }: RequestSlots): boolean {
    if (!this.#hasRoom(account)) return false;

    const slot = { kind: this.#kind, account, isRetrying: false, wasAborted: false };
    const slots = this.#held.get(account) ?? new Set();
    this.#held.set(account, slots.add(slot));
    held.set(this.#kind, slot);
    if (this.#free < 0) [...this.#loans].at(-1)?.end();
    return true;
  }

  /**
   * Takes a slot, after a wait if there is none.
   *
   * @throws LimitError if there is none in time, or if too many requests of the account wait already
   * @throws the signal's reason
   */
  async take(request: RequestSlots, signal: AbortSignal): Promise<void> {
    if (this.tryTake(request)) return;

    const { waiting, waitMs } = KINDS[this.#kind];
    const { account, hasBegun } = request;
    const isCounted = ({ request: other }: Waiter) => other.account === account && !other.hasBegun;
    if (!hasBegun && [...this.#waiters].filter(isCounted).length >= waiting)
      throw this.#refusal(account);

    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { request, resolve };
    const leave = () => reject(signal.reason as Error);
    const refuse = () => reject(this.#refusal(account));
    const timer = setTimeout(refuse, hasBegun ? MAX_TIMER_MS : waitMs);
    signal.addEventListener('abort', leave);
    this.#waiters.add(waiter);
    try {
      await promise;
    } finally {
      this.#waiters.delete(waiter);
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  /** Releases a slot, unless it is released already. */
  release(slot: Slot): void {
    const slots = this.#held.get(slot.account);
    if (!slots?.delete(slot)) return;
    if (slots.size === 0) this.#held.delete(slot.account);

    const full = new Set<string>();
    for (const waiter of this.#waiters) {
      const { request, resolve } = waiter;
      if (full.has(request.account)) continue;
      if (this.tryTake(request)) {
        this.#waiters.delete(waiter);
        resolve();
      } else {
        full.add(request.account);
      }
    }
  }

  /** Drops what a request that has ended waits for or has borrowed. */
  forget(request: RequestSlots): void {
    for (const waiter of this.#waiters)
      if (waiter.request === request) this.#waiters.delete(waiter);
    for (const loan of this.#loans) if (loan.request === request) this.#loans.delete(loan);
  }

  /**
   * Borrows a slot, if nobody else needs it.
   *
   * @param onEnd releases what is held in it, at once, because somebody else needs it now
   * @returns ends the loan; undefined if there is no slot to borrow
   */
  borrow(request: RequestSlots, onEnd: () => void): (() => void) | undefined {
    const borrowed = [...this.#loans].filter((loan) => loan.request === request).length;
    const total = this.#total;
    const most = total === 1 ? MOST_BORROWED : Math.floor(SHARED_BORROWED / total);
    if (this.#waiters.size > 0 || this.#free <= 0 || borrowed >= most) return undefined;

    const loan: Loan = { request, end: () => this.#loans.delete(loan) && onEnd() };
    this.#loans.add(loan);
    return () => this.#loans.delete(loan);
  }

  get #total(): number {
    return [...this.#held.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** How many slots nobody holds. */
  get #free(): number {
    const { own, shared } = KINDS[this.#kind];
    return ACCOUNTS * own + shared - this.#total - this.#loans.size;
  }

  /** Whether an account can take another slot. */
  #hasRoom(account: string): boolean {
    const { own, shared, most } = KINDS[this.#kind];
    const held = this.#held.get(account)?.size ?? 0;
    if (held >= most) return false;

    const accounts = [...this.#held.keys(), account];
    const ownOf = (name: string) => (accounts.indexOf(name) < ACCOUNTS ? own : 0);
    if (held < ownOf(account)) return true;

    const beyond = [...this.#held].map(([name, { size }]) => Math.max(0, size - ownOf(name)));
    return beyond.reduce((sum, size) => sum + size, 0) < shared;
  }

  #refusal(account: string): LimitError {
    const isRetrying = [...this.#held.values()].some((slots) =>
      [...slots].some((slot) => slot.isRetrying),
    );
    return new LimitError(this.#kind, this.#held.get(account)?.size ?? 0, isRetrying);
  }
}

const pools = Object.fromEntries(ORDER.map((kind) => [kind, new Pool(kind)])) as Record<Kind, Pool>;

/** The requests that hold slots. */
const requests = new Set<RequestSlots>();

/** The slots of one request: at most one of each kind. */
export class RequestSlots {
  /** What the request is counted by. */
  readonly account: string;
  /** Whether its response has begun, which a refusal would abort. */
  hasBegun = false;
  /** Only {@link Pool.tryTake} and {@link release} change it. */
  readonly held = new Map<Kind, Slot>();
  /** Free the results that the request still has. Only who adds one deletes it. */
  readonly results = new Set<() => void>();
  /** Released slots whose queries were aborted. */
  readonly #aborted = new Set<Slot>();
  #hasEnded = false;
  #renewed = performance.now();
  /** Its timers end with the request. */
  readonly #timer = setInterval(() => this.#renew(), RENEWS_MS);

  constructor(account: string) {
    this.account = account;
    requests.add(this);
  }

  /**
   * Takes a slot, after a wait if there is none. If the request has one of this kind, that is
   * returned: queries of a request that need the same kind run one after another.
   *
   * @throws LimitError if there is none in time, or if too many requests of the account wait already
   * @throws the signal's reason
   */
  async take(kind: Kind, signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    if (this.#hasEnded) throw new Error('a request that has ended cannot take a slot');
    if (!this.held.has(kind)) {
      const later = [...this.held.keys()].find((one) => ORDER.indexOf(one) > ORDER.indexOf(kind));
      if (later) throw new Error(`a slot for ${kind} has to be taken before one for ${later}`);
      await pools[kind].take(this, signal);
    }
    return this.held.get(kind) as Slot;
  }

  /** Borrows a slot for a page of a file: see {@link Pool.borrow}. */
  borrow(onEnd: () => void): (() => void) | undefined {
    return pools.file.borrow(this, onEnd);
  }

  /** Releases some of its slots, those that it has. */
  release(...kinds: readonly Kind[]): void {
    for (const kind of kinds) {
      const slot = this.held.get(kind);
      if (!slot || !this.held.delete(kind)) continue;
      if (slot.wasAborted) {
        this.#aborted.add(slot);
        setTimeout(() => this.#releaseAborted(), ABORTED_MS);
      } else {
        pools[kind].release(slot);
      }
    }
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
    this.#hasEnded = true;
    for (const kind of ORDER) pools[kind].forget(this);
    this.release(...ORDER);
    if (this.#aborted.size > 0) await new Promise((resolve) => setTimeout(resolve, ABORTED_MS));
    this.#releaseAborted();
    requests.delete(this);
  }

  #releaseAborted(): void {
    for (const slot of this.#aborted) pools[slot.kind].release(slot);
    this.#aborted.clear();
  }

  /** Also releases what requests hold that have ended without a word. */
  #renew(): void {
    this.#renewed = performance.now();
    for (const request of requests) {
      if (this.#renewed - request.#renewed <= EXPIRES_MS) continue;
      requests.delete(request);
      for (const kind of ORDER) pools[kind].forget(request);
      for (const slot of request.held.values()) pools[slot.kind].release(slot);
      request.#releaseAborted();
    }
  }
}
