import type { Cursor } from '../cursor.ts';
import { transcodePage } from '../csv/page.ts';
import type { Database, Patience } from '../db/client.ts';
import { CSV_COLUMNS, CSV_KEY_COLUMNS, type Selection, borderQuery, pageQuery } from '../db/responses.ts';
import type { ResponseReader, SizedPage } from './read-ahead.ts';

/** A page as it goes into a file. */
export interface FilePage extends SizedPage {
  readonly data: Uint8Array;
  /** Frees the memory of `data`, which has been used. */
  readonly release: () => void;
}

/** More than this is not taken into memory at once, unless it is a single row. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** Reads a selection's responses as CSV. @param options.safe see {@link pageQuery} */
export function csvReader(
  db: Database,
  selection: Selection,
  signal: AbortSignal,
  options: { safe?: boolean | undefined } = {},
): ResponseReader<FilePage> {
  let patience: Patience = 'request';
  return {
    async page(range) {
      const maxBytes = range.limit === 1 ? Infinity : MAX_PAGE_BYTES;
      const query = pageQuery(selection, range, CSV_COLUMNS, options);
      const page = await db.bytes(query, { signal, maxBytes, patience }, (body): FilePage => {
        const { csv, rowCount, lastKey } = transcodePage(body, CSV_KEY_COLUMNS);
        // Megabytes a page pile up faster than the garbage collector sees them: a transfer to nowhere frees them at once.
        const release = () => void csv.buffer.transfer(0);
        return { data: csv, rowCount, last: cursorOf(lastKey), bytes: body.length, release };
      });
      patience = 'export'; // for the first page a client waits; from then on, patience saves its download
      return page;
    },

    borders: readBorders(db, selection, signal),
  };
}

/** Looks up the borders of the pages to come. */
export function readBorders(db: Database, selection: Selection, signal: AbortSignal): ResponseReader<never>['borders'] {
  return async (range, pageRows) => {
    const rows = await db.rows(borderQuery(selection, range, pageRows), { signal, patience: 'export' });
    return rows.map((row) => cursorOf(row) as Required<Cursor>);
  };
}

function cursorOf(key: readonly (string | null)[]): Required<Cursor> | undefined {
  if (key.length === 0) return undefined;
  const [timestamp, userid, questionRef, surveyid] = key as [string, string, string, string];
  return { timestamp, userid, questionRef, surveyid };
}
