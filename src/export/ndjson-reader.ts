import type { Database, Patience } from '../db/client.ts';
import { JSON_COLUMNS, pageQuery } from '../db/responses.ts';
import type { Selection } from '../db/selection.ts';
import { placeOf, readBorders } from './borders.ts';
import type { FilePage, ResponseReader } from './read-ahead.ts';
import { KEY_COLUMNS, responseEncoder } from './response-objects.ts';

/** More than this is not taken into memory at once, unless it is a single row. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** Reads a selection's responses as JSON objects, as `/responses` has them, each on a line of its own. */
export function ndjsonReader(db: Database, selection: Selection, signal: AbortSignal): ResponseReader<FilePage> {
  const encoder = responseEncoder(selection.forms, { behind: '\n' });
  const columns = { columns: JSON_COLUMNS.length, keyColumns: KEY_COLUMNS };
  let patience: Patience = 'request';
  return {
    async page(range) {
      const maxBytes = range.limit === 1 ? Infinity : MAX_PAGE_BYTES;
      const query = pageQuery(selection, range, JSON_COLUMNS);
      const page = await db.bytes(query, { signal, maxBytes, patience }, (body): FilePage => {
        const { json, rowCount, lastKey } = encoder.encode(body, columns);
        body.buffer.transfer(0); // see csv-reader.ts
        const release = () => void json.buffer.transfer(0);
        return { data: json, rowCount, last: placeOf(lastKey), bytes: json.length, release };
      });
      patience = 'export';
      return page;
    },
    borders: readBorders(db, selection, signal),
  };
}
