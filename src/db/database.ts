import type { EncodeRows } from '../encode/rows.ts';
import { KINDS, type Kind, type RequestSlots } from '../limits/slots.ts';
import type { Connection, ProvenPage, QueryOptions } from './client.ts';
import type { RetryPolicy } from './retry.ts';
import type { Query, Row } from './sql.ts';

export interface SlotOptions {
  /** The kind of slot that the query takes: `quick` unless given. */
  readonly kind?: Exclude<Kind, 'request'>;
  /** How long it is retried: what its kind is retried unless given. */
  readonly retry?: RetryPolicy | undefined;
  /** Cancels the query, besides the request's signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The longest result, in bytes, if it can be long. One that is more than a slot can hold, with as
   * much again that is made from it, takes a large slot as well.
   */
  readonly maxBytes?: number;
}

/** The database, as a request uses it. All methods throw a DatabaseError, a LimitError or the signal's reason. */
export interface Database {
  /** Reads the rows of a query. */
  rows(query: Query, options?: SlotOptions): Promise<Row[]>;
  /** Reads the rows of a query and encodes them. The page holds its slot until it is released. */
  page(query: Query, options: SlotOptions, encode: EncodeRows): Promise<ProvenPage>;
}

const RETRY_POLICIES = {
  file: 'export',
  scan: 'scan',
  walk: 'scan',
  quick: 'request',
  large: 'request',
} as const;

/**
 * Takes a slot for each query before it is sent, unless the request holds one of its kind, and
 * releases it when the result is no longer needed.
 *
 * A quick query is not cancelled: it takes less time than a cancellation, and a client that leaves
 * could otherwise have many of them.
 */
export class SlottedDatabase implements Database {
  readonly #connection: Connection;
  readonly #slots: RequestSlots;
  readonly #requestSignal: AbortSignal;

  /** @param requestSignal is aborted when the request ends */
  constructor(connection: Connection, slots: RequestSlots, requestSignal: AbortSignal) {
    this.#connection = connection;
    this.#slots = slots;
    this.#requestSignal = requestSignal;
  }

  async rows(query: Query, options: SlotOptions = {}): Promise<Row[]> {
    const read = (attempts: QueryOptions) => this.#connection.rows(query, attempts);
    const { result, release } = await this.#inSlot(options, read);
    release();
    return result;
  }

  async page(query: Query, options: SlotOptions, encode: EncodeRows): Promise<ProvenPage> {
    const read = (attempts: QueryOptions) => this.#connection.page(query, attempts, encode);
    const { result: page, release } = await this.#inSlot(options, read);
    const { results } = this.#slots;
    const free = () => {
      page.release();
      results.delete(free);
      release();
    };
    results.add(free);
    return { ...page, release: free };
  }

  async #inSlot<T>(
    options: SlotOptions,
    read: (options: QueryOptions) => Promise<T>,
  ): Promise<{ result: T; release: () => void }> {
    const { kind = 'quick', retry = RETRY_POLICIES[kind], signal = this.#requestSignal } = options;
    const slots = this.#slots;
    const taken: Kind[] = [];
    const take = async (one: Kind, until: AbortSignal) => {
      const isHeld = slots.held.has(one);
      const slot = await slots.take(one, until);
      if (!isHeld) taken.push(one);
      return slot;
    };
    const release = () => slots.release(...taken);
    const slot = await take(kind, this.#requestSignal);

    const { maxBytes = 0 } = options;
    const slotBytes = KINDS[kind].bytes;
    let refusal: unknown;
    const takeLarge = () =>
      take('large', signal).catch((error: unknown) => {
        refusal = error; // no failure of the database
      });
    const fits = async (bytes: number) => {
      if (bytes > maxBytes) return false;
      if (bytes <= slotBytes / 2 || maxBytes <= slotBytes) return true;
      return (await takeLarge()) !== undefined;
    };

    const finishes = kind === 'quick';
    const attempts = { retry, signal, finishes, fits: maxBytes > 0 ? fits : undefined };
    const onPause = (isPausing: boolean) => {
      slot.isRetrying = isPausing;
    };
    try {
      return { result: await read({ ...attempts, onPause }), release };
    } catch (error) {
      slot.wasAborted ||= this.#requestSignal.aborted && !finishes;
      release();
      throw refusal ?? error;
    }
  }
}
