import type { Database, Patience } from '../db/client.ts';
import { JSON_COLUMNS, pageQuery } from '../db/responses.ts';
import type { Selection } from '../db/selection.ts';
import { readBorders } from './borders.ts';
import { cursorOf, jsonRows, shortcodesOf } from './json-pages.ts';
import type { FilePage, ResponseReader } from './read-ahead.ts';

/**
 * Parsed, a page takes some four times its text: its rows, their strings and the objects made of them. So pages are a quarter
 * as large, which took workerd's peak with four exports of 116 MiB from 302 MiB above idle to 206.
 */
const PARSED_BY_TEXT = 4;
/** More than this is not parsed at once, unless it is a single row. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const utf8 = new TextEncoder();

/** Reads a selection's responses as JSON objects, as `/responses` has them, each on a line of its own. */
export function ndjsonReader(db: Database, selection: Selection, signal: AbortSignal): ResponseReader<FilePage> {
  const shortcodes = shortcodesOf(selection.forms);
  let patience: Patience = 'request';
  return {
    async page(range) {
      const maxBytes = range.limit === 1 ? Infinity : MAX_PAGE_BYTES;
      const rows = await db.rows(pageQuery(selection, range, JSON_COLUMNS), { signal, maxBytes, patience });
      patience = 'export';
      const data = utf8.encode(
        jsonRows(rows, shortcodes)
          .map((row) => `${row}\n`)
          .join(''),
      );
      const last = rows.at(-1);
      const bytes = PARSED_BY_TEXT * data.length;
      return { data, rowCount: rows.length, last: last && cursorOf(last), bytes, release: () => {} };
    },
    borders: readBorders(db, selection, signal),
  };
}
