import type { Cursor } from '../cursor.ts';
import { transcodePage } from '../csv/page.ts';
import type { Database, Patience } from '../db/client.ts';
import { CSV_COLUMNS, CSV_KEY_COLUMNS, borderQuery, pageQuery } from '../db/responses.ts';
import type { Form } from '../db/surveys.ts';
import type { ResponseReader, SizedPage } from './read-ahead.ts';

/** A page of CSV records. */
export interface CsvExportPage extends SizedPage {
  readonly csv: Uint8Array<ArrayBuffer>;
  /** Frees the memory of `csv`, which has been used. */
  readonly release: () => void;
}

/** More than this is not taken into memory at once, unless it is a single row. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** Reads the responses of a survey's forms as CSV. */
export function csvReader(db: Database, forms: readonly Form[], signal: AbortSignal): ResponseReader<CsvExportPage> {
  return {
    page(range) {
      const maxBytes = range.limit === 1 ? Infinity : MAX_PAGE_BYTES;
      // Before the first byte a client waits for a status; from then on, patience saves its download.
      const patience: Patience = range.after ? 'export' : 'request';
      const options = { signal, maxBytes, patience };
      return db.bytes(pageQuery(forms, range, CSV_COLUMNS), options, (body) => {
        const { csv, rowCount, lastKey } = transcodePage(body, CSV_KEY_COLUMNS);
        // Megabytes a page pile up faster than the garbage collector sees them: a transfer to nowhere frees them at once.
        const release = () => void csv.buffer.transfer(0);
        return { csv, rowCount, last: cursorOf(lastKey), bytes: body.length, release };
      });
    },

    async borders(range, pageRows) {
      const rows = await db.rows(borderQuery(forms, range, pageRows), { signal, patience: 'export' });
      return rows.map((row) => cursorOf(row) as Required<Cursor>);
    },
  };
}

function cursorOf(key: readonly (string | null)[]): Required<Cursor> | undefined {
  if (key.length === 0) return undefined;
  const [timestamp, userid, questionRef, surveyid] = key as [string, string, string, string];
  return { timestamp, userid, questionRef, surveyid };
}
