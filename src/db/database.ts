import type { EncodeRows } from '../encode/rows.ts';
import { KINDS, type Kind, type RequestSlots } from '../limits/slots.ts';
import type { Connection, ProvenPage, QueryOptions } from './client.ts';
import { DatabaseError } from './errors.ts';
import type { Query, Row } from './sql.ts';

interface SlotOptions extends Pick<QueryOptions, 'signal' | 'canShrink'> {
  /** The kind of slot that the query takes: `quick` unless given. */
  readonly kind?: Exclude<Kind, 'request'>;
  /** Whether the query can take as long as a scan, although its kind does not say so. */
  readonly isLong?: boolean | undefined;
  /** The longest result, in bytes, if it can be long. */
  readonly maxBytes?: number;
  /**
   * The part of its slot that the result can take, beside what is made from it: half unless given.
   * A longer one takes a large slot as well.
   */
  readonly share?: number;
}

/**
 * How the rows of a scan are read that are held in memory: some 40,000 days, 20,000 intervals with
 * digests, or the names of questions or participants.
 */
export const SCAN = { kind: 'scan', maxBytes: 2 * 1024 * 1024 } as const satisfies SlotOptions;

/** The database, as a request uses it. All methods throw a DatabaseError, a LimitError or the signal's reason. */
export interface Database {
  /** Reads the rows of a query. */
  rows(query: Query, options?: SlotOptions): Promise<Row[]>;
  /** Reads the rows of a query and encodes them. The page holds its slot until it is released. */
  page(query: Query, options: SlotOptions, encode: EncodeRows): Promise<ProvenPage>;
}

/**
 * Takes a slot for each query before it is sent, unless the request holds one of its kind, and
 * releases it when the result is no longer needed.
 */
export function databaseInSlots(connection: Connection, slots: RequestSlots): Database {
  return {
    async rows(query, options = {}) {
      const { result, release } = await inSlot(connection, slots, options, (attempts) =>
        connection.rows(query, attempts),
      );
      release();
      return result;
    },

    async page(query, options, encode) {
      const { result: page, release } = await inSlot(connection, slots, options, (attempts) =>
        connection.page(query, attempts, encode),
      );
      const free = () => {
        page.release();
        slots.results.delete(free);
        release();
      };
      slots.results.add(free);
      return { ...page, release: free };
    },
  };
}

/**
 * Reads in a slot. A quick query is not cancelled: it takes less time than a cancellation, and a
 * client that leaves could otherwise have many of them.
 *
 * @returns the result, and a function that releases the slot
 */
async function inSlot<T>(
  connection: Connection,
  slots: RequestSlots,
  options: SlotOptions,
  read: (options: QueryOptions) => Promise<T>,
) {
  const { kind = 'quick', isLong, signal = connection.signal, maxBytes = 0, share = 0.5 } = options;
  const taken: Kind[] = [];
  const take = async (one: Kind, until: AbortSignal) => {
    if (slots.holds(one)) return;
    await slots.take(one, until);
    taken.push(one);
  };
  const release = () => slots.release(...taken);
  await take(kind, connection.signal);

  let refusal: unknown;
  const checkLength = async (bytes: number) => {
    const isLarge = bytes > share * KINDS[kind].bytes;
    if (isLarge && bytes <= maxBytes)
      await take('large', signal).catch((error: unknown) => {
        refusal = error; // no failure of the database
        throw new DatabaseError('unavailable', 'no slot for a large response');
      });
    if (bytes > maxBytes)
      throw new DatabaseError('too-large', 'a response that does not fit in memory');
  };

  const finishes = kind === 'quick';
  const isScan = isLong || kind === 'scan' || kind === 'walk';
  const ofPage = slots.hasBegun ? 'export' : 'request';
  const onPause = (isPausing: boolean) => {
    slots.isRetrying = isPausing;
  };
  try {
    const result = await read({
      ...options,
      retry: isScan ? 'scan' : ofPage,
      signal,
      finishes,
      onPause,
      checkLength: maxBytes > 0 ? checkLength : undefined,
    });
    return { result, release };
  } catch (error) {
    if (connection.signal.aborted && !finishes) slots.wasAborted = true;
    else release();
    throw refusal ?? error;
  }
}
