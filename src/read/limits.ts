import { DatabaseError } from '../db/errors.ts';
import { type ApiError, overloaded, tooManyExports, tooManyScans } from '../http/errors.ts';

/*
 * What the requests of one isolate may hold at a time. An isolate has 128 MB for all of them
 * (https://developers.cloudflare.com/workers/platform/limits/#memory): here, exports get 72 MiB and pages of JSON 32 MiB.
 */

const MIB = 1024 * 1024;

/** The usual size of an export's page in memory, in bytes. */
export const EXPORT_PAGE_BYTES = 4.5 * MIB;
/**
 * Pages of all exports, those being sent included. A single export has three, so that it waits for few round trips to the database,
 * and two have two each. Each export may always have one.
 */
const MAX_PAGES = 4;
/** What a file's format can always reserve besides pages. */
const FORMAT_BYTES = 4 * MIB;
const MAX_EXPORTS = 12;
const MAX_EXPORTS_PER_KEY = 4;
/** A format may reserve more while the memory of all exports is at most that of this many pages: one for each export, and the largest participant. */
const ALL_PAGES = 16;

const JSON_PAGES_BYTES = 32 * MIB;
/** What a response takes while a page of JSON is made: as a row, as an object, and in the body. Measured with 10,000. */
const BYTES_PER_RESPONSE = 3 * 1024;
/** How long an export waits for others to end, and a page for memory; milliseconds. */
const WAIT_MS = 5_000;

/** For this long after another key has requested a page of JSON, exports read one page at a time; milliseconds. */
const TURNS_MS = 1_000;
/** The longest that a page waits for its turn, in milliseconds. */
const MAX_TURN_MS = 1_000;

const MAX_SCANS_PER_KEY = 2;
const SCAN_WAIT_MS = 20_000;

const POLL_MS = 10;

/** Something that a request holds until it calls `end`. */
export class Lease {
  readonly keyId: string;
  readonly bytes: number;
  readonly #all: Leases<Lease>;

  constructor(all: Leases<Lease>, keyId: string, bytes = 0) {
    this.keyId = keyId;
    this.bytes = bytes;
    this.#all = all;
    all.add(this);
  }

  end(): void {
    this.#all.remove(this);
  }

  /** Ends the lease with a transfer, or at once if the body is not streamed. */
  endAfter(transfer: Promise<unknown> | undefined): void {
    void Promise.resolve(transfer).then(() => this.end());
  }
}

/** The leases of all requests. Weak, since the runtime can end a request without running its `finally`. */
class Leases<T extends Lease> {
  readonly #refs = new Set<WeakRef<T>>();

  add(lease: T): void {
    this.#refs.add(new WeakRef(lease));
  }

  remove(lease: T): void {
    for (const ref of this.#refs) if (ref.deref() === lease) this.#refs.delete(ref);
  }

  get all(): T[] {
    return Array.from(this.#refs).flatMap((ref) => {
      const lease = ref.deref();
      if (!lease) this.#refs.delete(ref);
      return lease ?? [];
    });
  }

  ofKey(keyId: string): number {
    return this.all.filter((lease) => lease.keyId === keyId).length;
  }
}

const exportLeases = new Leases<ExportLease>();
const jsonPages = new Leases<Lease>();
const scans = new Leases<Lease>();

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** A running export. */
export class ExportLease extends Lease {
  /** Pages read ahead or being sent. */
  #pages = 0;
  /** Pages among them that are being read. */
  #reads = 0;
  /** Memory that the file's format takes, in bytes. */
  #formatBytes = 0;

  constructor(keyId: string) {
    super(exportLeases, keyId);
  }

  /** The size that pages should have, in bytes: a quarter beside requests that should not wait for them, or beside other exports. */
  get pageBytes(): number {
    const share = this.#isBesidePages() ? 4 : Math.min(4, exportLeases.all.length);
    return EXPORT_PAGE_BYTES / share;
  }

  /** Reserves room for a page. @returns false if there is none at the moment */
  acquirePage(): boolean {
    const keys = new Set(exportLeases.all.map(({ keyId }) => keyId)).size;
    const share = Math.floor(MAX_PAGES / keys / exportLeases.ofKey(this.keyId));
    if (this.#pages > 0 && (this.#pages >= share || pagesOfAll() >= MAX_PAGES)) return false;
    this.#pages++;
    return true;
  }

  /** Releases the room of a page. */
  releasePage(): void {
    this.#pages--;
  }

  /**
   * Reads a page, after a short wait if other keys are requesting pages of JSON: a small page takes a few milliseconds of the
   * database and of this isolate, and those of an export some hundred.
   */
  async read<T>(page: () => Promise<T>): Promise<T> {
    await pollUntil(() => !this.#hasToWait(), MAX_TURN_MS);
    this.#reads++;
    try {
      return await page();
    } finally {
      this.#reads--;
    }
  }

  #hasToWait(): boolean {
    return this.#isBesidePages() && exportLeases.all.some((lease) => lease.#reads > 0);
  }

  #isBesidePages(): boolean {
    const since = Date.now() - TURNS_MS;
    return [...lastJsonPageAt].some(([keyId, time]) => keyId !== this.keyId && time >= since);
  }

  /** Sets the memory that the file's format takes. @returns false if it is more than 4 MiB and there is no room for it */
  reserveMemory(bytes: number): boolean {
    this.#formatBytes = bytes;
    return bytes <= FORMAT_BYTES || pagesOfAll() <= ALL_PAGES;
  }

  get size(): number {
    return this.#pages + this.#formatBytes / EXPORT_PAGE_BYTES;
  }
}

/**
 * Waits until another export may run.
 *
 * @throws ApiError 429 if the key still has as many as it may have after 5 s
 * @throws ApiError 503 if all keys together have
 */
export async function leaseExport(keyId: string, signal: AbortSignal): Promise<ExportLease> {
  const keyHasRoom = () => exportLeases.ofKey(keyId) < MAX_EXPORTS_PER_KEY;
  const hasRoom = () => keyHasRoom() && exportLeases.all.length < MAX_EXPORTS;
  if (await pollUntil(hasRoom, WAIT_MS, signal)) return new ExportLease(keyId);
  throw keyHasRoom() ? overloaded() : tooManyExports(MAX_EXPORTS_PER_KEY);
}

/** When each key last requested a page of JSON, the latest last. */
const lastJsonPageAt = new Map<string, number>();

function noteJsonPage(keyId: string): void {
  const now = Date.now();
  lastJsonPageAt.delete(keyId);
  lastJsonPageAt.set(keyId, now);
  for (const [key, time] of lastJsonPageAt) {
    if (time >= now - TURNS_MS) return;
    lastJsonPageAt.delete(key);
  }
}

const pagesOfAll = () => sum(exportLeases.all.map(({ size }) => size));

/**
 * Waits for the memory of a page of JSON.
 *
 * @param rows the number of responses requested
 * @throws ApiError 503 if there is none within 5 s
 */
export async function leaseJsonPage(keyId: string, rows: number, signal: AbortSignal): Promise<Lease> {
  noteJsonPage(keyId);
  const bytes = Math.min(rows * BYTES_PER_RESPONSE, JSON_PAGES_BYTES);
  const hasRoom = () => sum(jsonPages.all.map((page) => page.bytes)) + bytes <= JSON_PAGES_BYTES;
  if (!(await pollUntil(hasRoom, WAIT_MS, signal))) throw overloaded();
  return new Lease(jsonPages, keyId, bytes);
}

/**
 * Runs a query that reads a whole selection, at most two at a time for a key.
 *
 * @param tooLarge the error for a result that exceeds the query's `maxBytes`
 * @throws ApiError 429 if the query cannot start within 20 s
 */
export async function runScan<T>(
  keyId: string,
  signal: AbortSignal,
  scan: () => Promise<T>,
  tooLarge?: () => ApiError,
): Promise<T> {
  const isFree = () => scans.ofKey(keyId) < MAX_SCANS_PER_KEY;
  if (!(await pollUntil(isFree, SCAN_WAIT_MS, signal))) throw tooManyScans(MAX_SCANS_PER_KEY);
  const lease = new Lease(scans, keyId);
  try {
    return await scan();
  } catch (error) {
    throw tooLarge && error instanceof DatabaseError && error.kind === 'too-large' ? tooLarge() : error;
  } finally {
    lease.end();
  }
}

/** Waits by polling, because a request that the runtime has ended cannot notify another. @returns false if the condition stays false */
async function pollUntil(condition: () => boolean, ms: number, signal?: AbortSignal): Promise<boolean> {
  for (const deadline = Date.now() + ms; !condition();) {
    if (Date.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    signal?.throwIfAborted();
  }
  return true;
}
