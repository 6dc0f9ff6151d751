import { DatabaseError } from '../db/errors.ts';
import { type ApiError, overloaded, tooManyScans, tooMuchMemory } from '../http/errors.ts';
import { isBesideJsonPages } from './json-pages.ts';
import { Lease } from './lease.ts';
import { PLACES, Shares } from './shares.ts';

/*
 * What the requests of one isolate may hold at a time, shared by account: docs/export.md, "What runs at a time". An isolate has 128 MB
 * for all of them (https://developers.cloudflare.com/workers/platform/limits/#memory). As measured,
 * the process takes up to five times what is counted here: the runtime's own copies, garbage, and the encoding of one page.
 */

const KIB = 1024;
export const MIB = 1024 * KIB;

/** How many requests of an account wait for the same thing. */
export const WAITING = 4;
/** How long a request waits for memory or for another export to end, in milliseconds. */
export const WAIT_MS = 5_000;
/** How long a running file waits for memory, in milliseconds: it should not end because of others. */
export const FILE_WAIT_MS = 20_000;
/** How long a scan waits for others to end, in milliseconds. */
const SCAN_WAIT_MS = 20_000;

/** What an account can always have. */
export const PLACE_BYTES = 2.125 * MIB;
const COMMON_BYTES = 6 * MIB;
/** The most memory that a request can ever have, in bytes. */
export const MAX_BYTES = PLACES * PLACE_BYTES + COMMON_BYTES;
export const memory = new Shares({ place: PLACE_BYTES, common: COMMON_BYTES, lendsPlaces: true, waiting: WAITING });
/** What an account can have at most, alone and while another account requests pages of JSON. */
const most = (alone: number, beside: number) => (account: string) => (isBesideJsonPages(account) ? beside : alone);
const scans = new Shares({ place: 1, common: 2, most: most(2, 1), waiting: WAITING });
/** Requests to the database, those of scans included. The others take turns: what waits is limited by its memory. */
const queries = new Shares({ place: 1, common: 4, most: most(5, 2), waiting: Infinity });

/** What a request takes besides its results and its body. Measured with 3,000 that wait. */
const REQUEST_BYTES = 96 * KIB;
/**
 * Counted for a body that is being streamed, besides its bytes. The runtime takes more, 0.8 to 1.4 MiB, as measured with 100 clients
 * that stop reading; so the process takes several times what is counted.
 */
export const STREAM_BYTES = 640 * KIB;

/** What a request holds. */
export class RequestLease extends Lease {
  /** What its body takes while it is streamed, besides its bytes. */
  readonly stream = this.hold();
  #used = REQUEST_BYTES;
  #reserved = 0;

  /** Bytes that the request holds for one purpose: none yet. */
  hold(): Hold {
    return new Hold(this);
  }

  /**
   * Reserves memory for the request, the one that it uses included, until its end.
   *
   * @throws ApiError 429 or 503 if there is none within 5 s
   */
  async reserve(bytes: number, signal: AbortSignal): Promise<void> {
    await this.#acquire(bytes - this.heldOf(memory), WAIT_MS, signal);
    this.#reserved = bytes;
    this.#count();
  }

  /** Uses more memory, or less. @returns false if there is no room for it */
  use(change: number): boolean {
    if (!this.take(memory, Math.max(0, this.#needed(change)))) return false;
    this.useAnyway(change);
    return true;
  }

  /** Uses more memory, or less, whether there is room for it or not. */
  useAnyway(change: number): void {
    this.#used += change;
    this.#count();
  }

  /** @throws ApiError 429 or 503 if there is none in time */
  async useAfterWait(change: number, ms: number, signal: AbortSignal): Promise<void> {
    await this.#acquire(this.#needed(change), ms, signal);
    this.useAnyway(change);
  }

  /** Runs a request to the database when it is the account's turn. */
  async query<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    await this.acquire(queries, 1, undefined, signal);
    try {
      return await send();
    } finally {
      this.release(queries, 1);
    }
  }

  #needed(change: number): number {
    return Math.max(this.#used + change, this.#reserved) - this.heldOf(memory);
  }

  async #acquire(bytes: number, ms: number, signal: AbortSignal): Promise<void> {
    if (bytes <= 0 || (await this.acquire(memory, bytes, ms, signal))) return;
    throw memory.holdsPlace(this.account) ? tooMuchMemory() : overloaded();
  }

  #count(): void {
    this.count(memory, this.#needed(0));
  }
}

/** Bytes that a request holds for one purpose. */
export class Hold {
  readonly #lease: RequestLease;
  #bytes = 0;

  constructor(lease: RequestLease) {
    this.#lease = lease;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @returns false if there is no room for as many */
  set(bytes: number): boolean {
    const hasRoom = this.#lease.use(bytes - this.#bytes);
    if (hasRoom) this.#bytes = bytes;
    return hasRoom;
  }

  /** Counts bytes that are already held. */
  setAnyway(bytes: number): void {
    this.#lease.useAnyway(bytes - this.#bytes);
    this.#bytes = bytes;
  }

  /**
   * Waits for room.
   *
   * @throws ApiError 429 if other requests of the account hold it; 503 if those of other accounts do
   */
  async wait(bytes: number, signal: AbortSignal, ms = WAIT_MS): Promise<void> {
    await this.#lease.useAfterWait(bytes - this.#bytes, ms, signal);
    this.#bytes = bytes;
  }

  release(): void {
    this.setAnyway(0);
  }
}

/**
 * Begins a request of an account.
 *
 * @throws ApiError 429 if other requests of the account hold all the memory that it can have; 503 if those of other accounts do
 */
export async function leaseRequest(account: string, signal: AbortSignal): Promise<RequestLease> {
  const lease = new RequestLease(account);
  try {
    await lease.reserve(REQUEST_BYTES, signal);
  } catch (error) {
    lease.end();
    throw error;
  }
  return lease;
}

/**
 * Runs a query that reads a whole selection.
 *
 * @param tooLarge the error for a result that exceeds the query's `maxBytes`
 * @throws ApiError 429 if the account has as many as it can have, and none ends within 20 s; 503 if all accounts together have
 */
export async function runScan<T>(
  lease: RequestLease,
  signal: AbortSignal,
  scan: () => Promise<T>,
  tooLarge?: () => ApiError,
): Promise<T> {
  if (!(await lease.acquire(scans, 1, SCAN_WAIT_MS, signal)))
    throw scans.holdsPlace(lease.account) ? tooManyScans() : overloaded();
  try {
    return await scan();
  } catch (error) {
    throw tooLarge && error instanceof DatabaseError && error.kind === 'too-large' ? tooLarge() : error;
  } finally {
    lease.release(scans, 1);
  }
}
