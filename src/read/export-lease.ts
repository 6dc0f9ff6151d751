import type { Reservation } from '../limits/lease.ts';
import {
  ACCOUNT_BYTES,
  type RequestLease,
  STREAM_BYTES,
  exports,
  memory,
} from '../limits/limits.ts';

const MIB = 1024 * 1024;

/** The usual size of a page in memory, in bytes. */
export const PAGE_BYTES = 3 * MIB;
/** Beside other exports, pages are smaller, down to this size; further if there is no memory. */
const SMALL_PAGE_BYTES = 1.125 * MIB;
/**
 * Pages of several exports together, those being sent included. A single export has as many as it
 * reads, if there is memory.
 */
const SHARED_PAGES = 4;

/** A running export, and the memory of its pages. */
export type ExportLease = Awaited<ReturnType<typeof leaseExport>>;

/**
 * Waits until another export may run, and there is memory with which it can always read its next
 * page.
 *
 * @param formatBytes what its format takes at least, which pages leave it
 * @throws LimitError if the account, or all accounts together, have as many exports or as much
 * memory as they can have
 */
export async function leaseExport(lease: RequestLease, signal: AbortSignal, formatBytes = 0) {
  await lease.acquire(exports, 1, signal);
  await lease.keep(memory, ACCOUNT_BYTES, signal);
  const format = lease.reserve(memory);
  format.resize(formatBytes);
  lease.stream.resize(STREAM_BYTES);
  /** The pages that are read ahead or being sent. */
  const pages = new Set<Reservation>();

  const shareOfPages = () =>
    Math.floor(SHARED_PAGES / exports.held.size / exports.heldBy(lease.account));
  const mostPages = () => (exports.total === 1 ? Infinity : shareOfPages());

  return {
    /**
     * Sets how many bytes its format takes. @throws LimitError if there is no room for them within
     * 20 s
     */
    resizeFormat: (bytes: number): Promise<void> =>
      format.acquire(Math.max(bytes, formatBytes), signal),

    /** The size that pages should have, in bytes. */
    get pageBytes(): number {
      return Math.max(SMALL_PAGE_BYTES, PAGE_BYTES / exports.total);
    },

    /**
     * Reserves the memory of a page. @returns undefined if there is none at the moment, and the
     * export has other pages
     */
    acquirePage(): Reservation | undefined {
      const page = lease.reserve(memory);
      const mayReadAhead = pages.size < mostPages() && !memory.isAwaited;
      if (pages.size > 0 && !(mayReadAhead && page.resize(this.pageBytes))) return undefined;
      pages.add(page);
      return page;
    },

    /** Releases a page that has been sent, or is not going to be. */
    releasePage(page: Reservation): void {
      page.release();
      pages.delete(page);
    },
  };
}
