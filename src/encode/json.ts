import { COMMA, OPEN_BRACKET } from './ascii.ts';
import { Constant, Output, PADDING_BYTES } from './bytes.ts';
import { type EncodeRows, isAt } from './rows.ts';
import { RowCells } from './row-cells.ts';
import type { tokenWriter } from './token-writer.ts';

/*
 * The JSON encoder: from the bytes of a SQL-over-HTTP response straight to the bytes of JSON
 * objects. Nothing is parsed: a cell is already a JSON string or null, and is copied. Only line
 * separators are escaped, so that no line splitter cuts an object.
 */

/**
 * A member's value. `string`: the next column's text. `json`: the JSON in this text, as Postgres
 * prints it, so that numbers keep every digit. Or a token, which is made from earlier columns.
 */
type MemberValue = 'string' | 'json' | ReturnType<typeof tokenWriter>;

/** How rows become objects. */
export interface ObjectLayout {
  readonly members: readonly (readonly [name: string, value: MemberValue])[];
  /** The number of columns that follow and are not written. */
  readonly hidden?: number;
  /** The columns, counted from 0, whose texts make a row's key; none unless given. */
  readonly keyColumns?: readonly number[];
  /** The column, counted from 0, that is a time: see time.ts. */
  readonly timeColumn?: number | undefined;
  /** The text around each object. */
  readonly before?: string;
  readonly after?: string;
}

/** Room is reserved for this many times the expected bytes. */
const RESERVE = 1.02;

/** Encodes rows as objects. */
export function objectEncoder({
  members,
  hidden = 0,
  keyColumns = [],
  timeColumn,
  before = '',
  after = '',
}: ObjectLayout): EncodeRows {
  const columns = members.filter(([, value]) => typeof value === 'string').length + hidden;
  const named = members.map(([name, value], i) => {
    const start = i === 0 ? `${before}{` : ',';
    return { name: new Constant(`${start}${JSON.stringify(name)}:`), value };
  });
  const end = new Constant(`}${after}`);
  /** The bytes of an object without its values, and the padding after its end. */
  const frameLength = named.reduce(
    (sum, { name }) => sum + name.length,
    end.length + PADDING_BYTES,
  );
  /** How many bytes of objects the last page had per byte of its rows; 0 before the first page. */
  let growth = 0;

  /** The hot loop: called once per row, for the reason that csv.ts gives. */
  function writeObject(row: RowCells, output: Output): void {
    // A value takes no more bytes than its cell, except those of an escape or a token, which
    // reserve this room again.
    output.reserve(frameLength + row.remainingBytes);
    row.expect(OPEN_BRACKET);
    row.column = 0;

    for (const { name, value } of named) {
      name.write(output);
      if (typeof value === 'string') row.writeNext(value === 'json', output, frameLength);
      else value(row, output, frameLength);
    }
    end.write(output);

    // The hidden cells are read but dropped.
    const { length } = output;
    for (let i = 0; i < hidden; i++) row.writeNext(false, output, frameLength);
    output.length = length;
  }

  return (bytes, start, last) => {
    const row = new RowCells(bytes, start, columns, timeColumn);
    const output = new Output();
    let rowCount = 0;
    row.expect(OPEN_BRACKET);
    output.reserve(Math.ceil(RESERVE * (growth || 1) * row.remainingBytes));
    while (!isAt(last, bytes, row.read)) {
      writeObject(row, output);
      if (growth === 0) {
        growth = output.length / (row.read - start); // in the first row
        output.reserve(Math.ceil(RESERVE * growth * row.remainingBytes));
      }

      rowCount++;
      row.expect(COMMA);
    }
    if (rowCount > 0) growth = output.length / (row.read - start);
    const keys = rowCount > 0 ? keyColumns : [];
    return {
      data: output.written,
      cells: new Int32Array(0),
      rowCount,
      lastKey: keys.map((column) => row.text(column)),
      end: row.read,
    };
  };
}
