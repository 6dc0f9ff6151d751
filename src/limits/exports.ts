import { overloaded, tooManyExports } from '../http/errors.ts';
import { isBesideJsonPages } from './json-pages.ts';
import {
  FILE_WAIT_MS,
  type Hold,
  MIB,
  PLACE_BYTES,
  type RequestLease,
  STREAM_BYTES,
  WAITING,
  WAIT_MS,
  memory,
} from './limits.ts';
import { Shares } from './shares.ts';

const exports = new Shares({ place: 1, common: 6, most: () => 4, waiting: WAITING });
/** Pages of exports that are being read beside requests that should not wait for them. */
const turns = new Shares({ place: 0, common: 1, waiting: Infinity });

/** The usual size of an export's page in memory, in bytes. */
export const EXPORT_PAGE_BYTES = 3 * MIB;
/** Beside other exports, or requests that should not wait for them, pages are smaller, down to this size; further if there is no memory. */
const SMALL_PAGE_BYTES = 1.125 * MIB;
/** Pages of several exports together, those being sent included. A single export has as many as it needs, if there is memory. */
const SHARED_PAGES = 4;

/** The longest that a page waits for its turn, in milliseconds. */
const MAX_TURN_MS = 1_000;

/** A running export. */
export class ExportLease {
  readonly #lease: RequestLease;
  readonly #signal: AbortSignal;
  /** The memory of its format, and the least that it ever is. */
  readonly #format: Hold;
  readonly #formatBytes: number;
  /** The memory of pages read ahead or being sent. */
  readonly #pages = new Set<Hold>();

  constructor(lease: RequestLease, signal: AbortSignal, formatBytes: number) {
    this.#lease = lease;
    this.#signal = signal;
    this.#format = lease.hold();
    this.#formatBytes = formatBytes;
    this.#format.setAnyway(formatBytes);
    lease.stream.setAnyway(STREAM_BYTES);
  }

  /** Sets what its format takes. @throws ApiError if there is no room for it within 20 s */
  async useForFormat(bytes: number): Promise<void> {
    await this.#format.wait(Math.max(bytes, this.#formatBytes), this.#signal, FILE_WAIT_MS);
  }

  /** The size that pages should have, in bytes. */
  get pageBytes(): number {
    return isBesideJsonPages(this.#lease.account)
      ? SMALL_PAGE_BYTES
      : Math.max(SMALL_PAGE_BYTES, EXPORT_PAGE_BYTES / exports.total);
  }

  /** Reserves the memory of a page. @returns undefined if there is none at the moment */
  acquirePage(): Hold | undefined {
    const hold = this.#lease.hold();
    const mayReadAhead = this.#pages.size < this.#mostPages() && !memory.isAwaited;
    if (this.#pages.size > 0 && !(mayReadAhead && hold.set(this.pageBytes))) return undefined;
    this.#pages.add(hold);
    return hold;
  }

  /** Releases a page that has been sent, or is not going to be. */
  releasePage(hold: Hold): void {
    hold.release();
    this.#pages.delete(hold);
  }

  /**
   * Reads a page, after a short wait if other accounts are requesting pages of JSON: a small page takes a few milliseconds of the
   * database and of this isolate, and those of an export some hundred.
   */
  async read<T>(page: () => Promise<T>): Promise<T> {
    const isBeside = isBesideJsonPages(this.#lease.account);
    const hasTurn = isBeside && (await this.#lease.acquire(turns, 1, MAX_TURN_MS, this.#signal));
    if (!hasTurn) this.#lease.count(turns, 1);
    try {
      return await page();
    } finally {
      this.#lease.release(turns, 1);
    }
  }

  #mostPages(): number {
    if (exports.total === 1) return Infinity;
    return Math.floor(SHARED_PAGES / exports.accounts / exports.heldBy(this.#lease.account));
  }
}

/**
 * Waits until another export may run.
 *
 * @param formatBytes what its format takes at least, which pages leave it
 * @throws ApiError 429 if the account has as many as it can have; 503 if all accounts together have
 */
export async function leaseExport(lease: RequestLease, signal: AbortSignal, formatBytes = 0): Promise<ExportLease> {
  if (!(await lease.acquire(exports, 1, WAIT_MS, signal)))
    throw exports.holdsPlace(lease.account) ? tooManyExports(exports.heldBy(lease.account)) : overloaded();
  await lease.reserve(PLACE_BYTES, signal); // so that it can always read its next page
  return new ExportLease(lease, signal, formatBytes);
}
