import { type Column, type PageOptions, keyColumnsOf } from '../db/responses.ts';
import { csvEncoder } from '../encode/csv.ts';
import { tokenWriter } from '../encode/token-writer.ts';
import { type ObjectLayout, objectEncoder } from '../encode/json.ts';
import type { EncodeRows } from '../encode/rows.ts';
import { badParameter } from '../http/errors.ts';
import { JSON_MEMBERS } from '../responses/columns.ts';
import { CURSOR_COLUMNS, TOKEN_VERSION } from '../responses/cursor.ts';

/** How pages of responses are read and encoded. */
export interface PageFormat extends PageOptions {
  /** The columns to read, a cursor's among them. */
  readonly columns: readonly Column[];
  /** The `lastKey` of its pages is a cursor. */
  readonly encode: EncodeRows;
  /**
   * The part of a slot that a result can take, beside what is made from it. For a longer one, fewer
   * rows are read.
   */
  readonly share: number;
}

/** CSV is written where its JSON was. */
const CSV_SHARE = 1;
/** Beside it are the positions of cells, the records that are made from them, and a chunk of the file. */
const CELLS_SHARE = 0.7;
/** Objects, which repeat the names of their members, are held without the JSON they are made from. */
const JSON_SHARE = 0.6;

/** Adds the columns of a cursor that are not written, to be read. */
function withCursor(written: readonly Column[]) {
  const hidden = CURSOR_COLUMNS.filter((name) => !written.includes(name));
  const columns = [...written, ...hidden];
  const keys = {
    keyColumns: keyColumnsOf(columns),
    timeColumn: columns.indexOf('timestamp'),
    hidden: hidden.length,
  };
  return { columns, keys };
}

/** Responses as CSV records, with the positions of their cells if requested. */
export function csvPages({
  columns: written,
  cells,
  ...options
}: PageOptions & Pick<PageFormat, 'columns'> & { readonly cells?: boolean }): PageFormat {
  const { columns, keys } = withCursor(written);
  const encode = csvEncoder({ columns: written.length, cells, ...keys });
  return { ...options, columns, encode, share: cells ? CELLS_SHARE : CSV_SHARE };
}

/**
 * Responses as JSON objects, as the API describes them.
 *
 * @param omit the names of members to leave out; a cursor's only together with `token`
 */
export function jsonPages({
  order,
  omit = [],
  ...frame
}: Pick<ObjectLayout, 'before' | 'after'> &
  Pick<PageOptions, 'order'> & { readonly omit?: readonly string[] }): PageFormat {
  const written = JSON_MEMBERS.filter(({ name }) => !omit.includes(name));
  const { columns, keys } = withCursor(
    written.filter(({ from }) => from !== 'worker').map(({ name }) => name),
  );
  const token = tokenWriter(TOKEN_VERSION, keys.keyColumns);
  const members = written.map(({ name, type }): ObjectLayout['members'][number] => {
    if (name === 'token') return [name, token];
    return [name, type === 'jsonb' ? 'json' : 'string'];
  });
  const encode = objectEncoder({ members, ...keys, ...frame });
  return { columns, share: JSON_SHARE, order, encode };
}

/**
 * The columns of a long table that are left.
 *
 * @param names all columns that it can omit
 * @param others the number of columns that it cannot omit
 * @throws ApiError 400 for another name, or if fewer than two columns are left: a record with one
 * null would be an empty line
 */
export function namesWithout<Name extends string>(
  names: readonly Name[],
  omit: readonly string[],
  others = 0,
): Name[] {
  const left = names.filter((name) => !omit.includes(name));
  const areKnown = omit.every((name) => (names as readonly string[]).includes(name));
  if (!areKnown || left.length + others < 2)
    throw badParameter('omit', `any of ${names.join(', ')}, with two columns left`);

  return left;
}
