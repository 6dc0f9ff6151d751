import { type Column, type PageOptions, keyColumnsOf } from '../db/responses.ts';
import { csvEncoder } from '../encode/csv.ts';
import { tokenWriter } from '../encode/token-writer.ts';
import { type ObjectLayout, objectEncoder } from '../encode/json.ts';
import type { EncodeRows } from '../encode/rows.ts';
import { JSON_COLUMNS, JSON_MEMBERS } from '../responses/columns.ts';
import { TOKEN_VERSION } from '../responses/cursor.ts';

/** How pages of responses are read and encoded. */
export interface PageFormat extends PageOptions {
  /** The columns to read, a cursor's among them. */
  readonly columns: readonly Column[];
  /** Its `lastKey` is a cursor. */
  readonly encode: EncodeRows;
  /** A larger response of the database is replaced by one of fewer rows, down to a single row. */
  readonly maxPageBytes: number;
  /** A larger row fails as `too-large`. */
  readonly maxRowBytes?: number | undefined;
}

/** Several pages of a file are held in memory at a time. */
const MAX_FILE_PAGE_BYTES = 4 * 1024 * 1024;

/** Responses as CSV records, with the positions of their cells if requested. */
export function csvPages({
  columns,
  cells,
  ...options
}: PageOptions & Pick<PageFormat, 'columns' | 'maxRowBytes'> & { readonly cells?: boolean }): PageFormat {
  const encode = csvEncoder({ columns: columns.length, keyColumns: keyColumnsOf(columns), cells });
  return { ...options, columns, encode, maxPageBytes: MAX_FILE_PAGE_BYTES };
}

/** Responses as JSON objects, as the API describes them. */
export function jsonPages({
  maxPageBytes = MAX_FILE_PAGE_BYTES,
  order,
  ...frame
}: Pick<ObjectLayout, 'before' | 'after'> &
  Pick<PageOptions, 'order'> &
  Partial<Pick<PageFormat, 'maxPageBytes'>>): PageFormat {
  const token = tokenWriter(TOKEN_VERSION, KEY_COLUMNS);
  const members = JSON_MEMBERS.map(({ name, type }): ObjectLayout['members'][number] => [
    name,
    name === 'token' ? token : type === 'jsonb' ? 'json' : 'string',
  ]);
  const encode = objectEncoder({ members, keyColumns: KEY_COLUMNS, ...frame });
  return { columns: JSON_COLUMNS, maxPageBytes, order, encode };
}

const KEY_COLUMNS = keyColumnsOf(JSON_COLUMNS);
