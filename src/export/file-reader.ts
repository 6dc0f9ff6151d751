import { free } from '../encode/bytes.ts';
import type { Database, Patience, Query } from '../db/client.ts';
import type { Order } from '../db/order.ts';
import type { Range, Selection } from '../db/selection.ts';
import { placeOf, readBorders } from './borders.ts';
import type { FilePage, ResponseReader } from './read-ahead.ts';

/** More than this is not taken into memory at once, unless it is a single row. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** How pages are asked for, and what becomes of them. */
export interface PageFormat {
  readonly query: (range: Range) => Query;
  /** Makes a page of a file out of the body of a SQL-over-HTTP response, which it may use up. `lastKey` is for `placeOf`. */
  readonly transcode: (body: Uint8Array<ArrayBuffer>) => {
    readonly data: Uint8Array<ArrayBuffer>;
    readonly rowCount: number;
    readonly lastKey: readonly (string | null)[];
  };
  /** The order of the query's rows; that of time when not given. */
  readonly order?: Order | undefined;
  /** A single row that is larger is not taken into memory. */
  readonly maxRowBytes?: number;
}

/** Reads a selection's responses as pages of a file. */
export function fileReader(
  db: Database,
  selection: Selection,
  signal: AbortSignal,
  { query, transcode, order, maxRowBytes = Infinity }: PageFormat,
): ResponseReader<FilePage> {
  let patience: Patience = 'request';
  return {
    async page(range) {
      const maxBytes = range.limit === 1 ? maxRowBytes : MAX_PAGE_BYTES;
      const page = await db.bytes(query(range), { signal, maxBytes, patience }, (body): FilePage => {
        const { data, rowCount, lastKey } = transcode(body);
        const isInPlace = data.buffer === body.buffer;
        const bytes = body.length + (isInPlace ? 0 : data.buffer.byteLength);
        if (!isInPlace) free(body);
        return { data, rowCount, last: placeOf(lastKey), bytes, release: () => free(data) };
      });
      patience = 'export'; // for the first page a client waits; from then on, patience saves its download
      return page;
    },

    borders: readBorders(db, selection, signal, order),
  };
}
