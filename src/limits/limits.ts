import { Lease } from './lease.ts';
import { ACCOUNTS, Quota } from './quota.ts';

/*
 * What the requests of one isolate may hold at a time, shared by account: docs/export.md, "What
 * runs at a time". An isolate has 128 MB for all of them
 * (https://developers.cloudflare.com/workers/platform/limits/#memory). As measured, it takes up to
 * five times what is counted.
 */

const MIB = 1024 * 1024;

/** What an account can always have, in bytes. */
export const ACCOUNT_BYTES = 2.125 * MIB;
/** What a request can ever have, in bytes. */
export const MAX_BYTES = ACCOUNTS * ACCOUNT_BYTES + 6 * MIB;

export const memory = new Quota('memory', {
  reserved: ACCOUNT_BYTES,
  shared: MAX_BYTES - ACCOUNTS * ACCOUNT_BYTES,
  lends: true,
  waiting: 4,
  waitMs: 5_000,
  begunWaitMs: 20_000, // two transfers can wait for each other
});
export const exports = new Quota('exports', {
  reserved: 1,
  shared: 6,
  most: 4,
  waiting: 4,
  waitMs: 5_000,
});
/** Queries that read a whole selection. */
export const scans = new Quota('scans', {
  reserved: 1,
  shared: 2,
  most: 2,
  waiting: 4,
  waitMs: 20_000,
});
/** Queries for JSON pages and lists, and for the first page of a file. */
export const quickQueries = new Quota('queries', { reserved: 1, shared: 4, waitMs: 20_000 });
/**
 * Queries for the other pages of files and of large lists. Each takes what `bulkAmount` returns, so
 * that they delay no quick queries.
 */
export const bulkQueries = new Quota('queries', { reserved: 6, shared: 0, waitMs: 20_000 });
/**
 * An export that runs alone sends six queries at a time, since the database can be far away; while
 * several run, an account sends one.
 */
export const bulkAmount = () => (exports.total > 1 ? 6 : 1);

/**
 * What a request takes besides its results and its body, in bytes. Measured with 3,000 that wait.
 */
export const REQUEST_BYTES = 96 * 1024;
/**
 * Counted for a body that is being streamed, besides its bytes. The runtime takes 0.8 to 1.4 MiB,
 * as measured with 100 clients that stop reading.
 */
export const STREAM_BYTES = 640 * 1024;

export class RequestLease extends Lease {
  /** What its body takes while it is streamed, besides its bytes: {@link STREAM_BYTES}. */
  readonly stream = this.reserve(memory);
}
