import type { Reservation } from '../limits/lease.ts';
import { ACCOUNT_BYTES, type RequestLease, STREAM_BYTES, exports, memory } from '../limits/limits.ts';

const MIB = 1024 * 1024;

/** The usual size of a page in memory, in bytes. */
export const PAGE_BYTES = 3 * MIB;
/** Beside other exports, pages are smaller, down to this size; further if there is no memory. */
const SMALL_PAGE_BYTES = 1.125 * MIB;
/** Pages of several exports together, those being sent included. A single export has as many as it reads, if there is memory. */
const SHARED_PAGES = 4;

/** A running export, and the memory of its pages. */
export class ExportLease {
  readonly #lease: RequestLease;
  readonly #signal: AbortSignal;
  readonly #format: Reservation;
  readonly #formatBytes: number;
  /** The pages that are read ahead or being sent. */
  readonly #pages = new Set<Reservation>();

  private constructor(lease: RequestLease, signal: AbortSignal, formatBytes: number) {
    this.#lease = lease;
    this.#signal = signal;
    this.#format = lease.reserve(memory);
    this.#formatBytes = formatBytes;
    this.#format.resize(formatBytes);
    lease.stream.resize(STREAM_BYTES);
  }

  /**
   * Waits until another export may run, and there is memory with which it can always read its next page.
   *
   * @param formatBytes what its format takes at least, which pages leave it
   * @throws LimitError if the account, or all accounts together, have as many exports or as much memory as they can have
   */
  static async begin(lease: RequestLease, signal: AbortSignal, formatBytes = 0): Promise<ExportLease> {
    await lease.acquire(exports, 1, signal);
    await lease.keep(memory, ACCOUNT_BYTES, signal);
    return new ExportLease(lease, signal, formatBytes);
  }

  /** Sets how many bytes its format takes. @throws LimitError if there is no room for them within 20 s */
  async resizeFormat(bytes: number): Promise<void> {
    await this.#format.acquire(Math.max(bytes, this.#formatBytes), this.#signal);
  }

  /** The size that pages should have, in bytes. */
  get pageBytes(): number {
    return Math.max(SMALL_PAGE_BYTES, PAGE_BYTES / exports.total);
  }

  /** Reserves the memory of a page. @returns undefined if there is none at the moment, and the export has other pages */
  acquirePage(): Reservation | undefined {
    const page = this.#lease.reserve(memory);
    const mayReadAhead = this.#pages.size < this.#mostPages() && !memory.isAwaited;
    if (this.#pages.size > 0 && !(mayReadAhead && page.resize(this.pageBytes))) return undefined;
    this.#pages.add(page);
    return page;
  }

  /** Releases a page that has been sent, or is not going to be. */
  releasePage(page: Reservation): void {
    page.release();
    this.#pages.delete(page);
  }

  #mostPages(): number {
    if (exports.total === 1) return Infinity;
    return Math.floor(SHARED_PAGES / exports.held.size / exports.heldBy(this.#lease.account));
  }
}
