import type { Database } from '../db/client.ts';
import { JSON_COLUMNS, pageQuery } from '../db/responses.ts';
import type { Selection } from '../db/selection.ts';
import { fileReader } from './file-reader.ts';
import type { FilePage, ResponseReader } from './read-ahead.ts';
import { KEY_COLUMNS, responseEncoder } from './response-objects.ts';

/** Reads a selection's responses as JSON objects, as `/responses` has them, each on a line of its own. */
export function ndjsonReader(db: Database, selection: Selection, signal: AbortSignal): ResponseReader<FilePage> {
  const encoder = responseEncoder(selection.forms, { behind: '\n' });
  const columns = { columns: JSON_COLUMNS.length, keyColumns: KEY_COLUMNS };
  return fileReader(db, selection, signal, {
    query: (range) => pageQuery(selection, range, JSON_COLUMNS),
    transcode(body) {
      const { json, ...page } = encoder.encode(body, columns);
      return { data: json, ...page };
    },
  });
}
