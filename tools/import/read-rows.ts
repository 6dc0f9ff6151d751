import { BadLine, shown } from './bad-line.ts';
import { decodeUtf8 } from './decode-utf8.ts';
import { type FieldReader, InvalidField } from './fields.ts';
import { type CsvRecord, parseCsv } from './parse-csv.ts';

/** The columns a file must have, in no particular order, and what each may hold. */
export type Columns = Record<string, FieldReader<string | null>>;

/** A row of a file whose fields have been checked. */
export interface Row<C extends Columns> {
  /** 1-based physical line on which it starts. */
  line: number;
  /** UTF-16 units of all its fields together. */
  size: number;
  /** By column, as text that Postgres reads. */
  values: { [Name in keyof C]: ReturnType<C[Name]> };
}

/**
 * Reads a CSV file's rows, finding the columns by the names in its first line.
 *
 * @param content the file's bytes, unpacked
 * @returns the rows in the file's order, in pieces
 * @throws BadLine for the first line that is not as it should be
 */
export async function* readRows<C extends Columns>(
  content: AsyncIterable<Uint8Array>,
  columns: C,
): AsyncGenerator<Row<C>[], void> {
  let header: string[] | undefined;
  for await (const records of parseCsv(decodeUtf8(content))) {
    const rows: Row<C>[] = [];
    for (const record of records) {
      if (header) rows.push(readRow(record, header, columns));
      else header = readHeader(record, Object.keys(columns));
    }
    yield rows;
  }
  if (!header) throw new BadLine(1, 'the file is empty: its first line must name the columns');
}

function readHeader(record: CsvRecord, wanted: string[]): string[] {
  const names = record.fields.map((name) => name ?? '');
  const unknown = names.filter((name) => !wanted.includes(name));
  const missing = wanted.filter((name) => !names.includes(name));
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) < index));
  const faults = [
    [missing, 'lacks'],
    [unknown, 'has unknown'],
    [[...repeated], 'repeats'],
  ] as const;
  const words = faults
    .filter(([found]) => found.length > 0)
    .map(
      ([found, verb]) =>
        `${verb} ${found.length === 1 ? 'column' : 'columns'} ${found.map((name) => name || '""').join(', ')}`,
    );
  if (words.length > 0) throw new BadLine(record.line, `the header ${words.join('; it ')}`);
  return names;
}

function readRow<C extends Columns>({ line, fields }: CsvRecord, header: string[], columns: C): Row<C> {
  if (fields.length !== header.length) throw new BadLine(line, wrongCount(fields, header.length));
  const values: Record<string, string | null> = {};
  let size = 0;
  for (const [index, name] of header.entries()) {
    const field = fields[index] ?? null;
    values[name] = readField(line, name, field, columns);
    size += field?.length ?? 0;
  }
  return { line, size, values: values as Row<C>['values'] }; // readHeader has seen to it that each column is there
}

function readField(line: number, name: string, field: string | null, columns: Columns): string | null {
  try {
    return columns[name]?.(field) ?? null;
  } catch (error) {
    if (error instanceof InvalidField) throw new BadLine(line, `${name}: ${error.message}`);
    throw error;
  }
}

function wrongCount(fields: (string | null)[], expected: number): string {
  const [first] = fields;
  if (fields.length === 1 && first === null) return 'is empty';
  const beginning = first ? ` (it begins with ${shown(first)})` : '';
  return `has ${fields.length} ${fields.length === 1 ? 'field' : 'fields'}, the header ${expected}${beginning}`;
}
