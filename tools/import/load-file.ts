import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Client, DatabaseError } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { counted } from '../command.ts';
import { BadLine } from './bad-line.ts';
import { type FileFormat, reasonForRefusal } from './columns.ts';
import { parseHeader } from './header.ts';
import type { InputFile } from './input-file.ts';
import { type CsvRecord, fieldsOf, recordsOf } from './records.ts';

export interface LoadOptions {
  signal: AbortSignal;
  /** Called with what is being done, such as `checking responses`, and how much of it. */
  onProgress: (phase: string, progress: string) => void;
  /** Called with remarks about a file that do not prevent loading it. */
  onNotice: (notice: string) => void;
}

/**
 * Loads a file into the temporary table `import_<name>`: `line`, the line on which the record
 * begins, then the file's columns with their types. The table is dropped at the end of the
 * transaction.
 *
 * @param client in a transaction
 * @returns the number of records
 * @throws BadLine for a record that is malformed, has an invalid value, or has the key of an
 * earlier record
 * @throws Error once the signal is aborted
 */
export async function loadFile(
  client: Client,
  file: Pick<InputFile, 'path' | 'content' | 'progress'>,
  format: FileFormat,
  { signal, onProgress, onNotice }: LoadOptions,
): Promise<number> {
  let rows = 0;
  const content = file.content();
  try {
    const batches = recordsOf(content);
    const [first, ...rest] = (await batches.next()).value ?? [];
    const columns = parseHeader(first, format);
    const reported = (records: readonly CsvRecord[]): Row[] => {
      rows += records.length;
      onProgress(`reading ${format.name}`, `${counted(rows, 'row')}, ${file.progress()}`);
      return records.map((record) => rowOf(record, columns));
    };

    const all = async function* (): AsyncGenerator<Row[], void> {
      yield reported(rest);
      for await (const records of batches) yield reported(records);
    };

    await loadRows(client, format, columns, all(), signal);
  } finally {
    await content.return();
  }

  if (rows === 0) onNotice(`${file.path}: has no rows after its header`);
  return rows;
}

/** @throws BadLine for a record that does not have one field for each column */
function rowOf(record: CsvRecord, columns: readonly string[]): Row {
  const { line } = record;
  const fields = fieldsOf(record);
  if (fields.every((value) => value === null)) throw new BadLine(line, 'is empty: remove it');
  if (fields.every((value, index) => value === columns[index]))
    throw new BadLine(line, 'repeats the header: remove it');
  if (fields.length !== columns.length)
    throw new BadLine(
      line,
      `must have ${columns.length} fields, like the header, but has ${fields.length}`,
    );
  return { line, fields };
}

/** A row to load, with one field for each column. */
export interface Row {
  readonly line: number;
  readonly fields: readonly (string | null)[];
}

/**
 * Loads rows into the temporary table `import_<name>`, as {@link loadFile} does.
 *
 * @param columns the names of the fields
 */
export async function loadRows(
  client: Client,
  format: FileFormat,
  columns: readonly string[],
  rows: AsyncIterable<Row[]> | Iterable<Row[]>,
  signal: AbortSignal,
): Promise<void> {
  const typed = Object.entries(format.columns).map(([column, { type }]) => {
    const check =
      type === 'timestamptz'
        ? ` check ("${column}" >= '0001-01-01Z' and "${column}" < '10000-01-01Z')`
        : '';
    return `"${column}" ${type}${check}`;
  });

  const unique = format.indexed ? [`unique (${format.indexed.join(', ')})`] : [];
  const parts = ['line integer', ...typed, `primary key (${format.key.join(', ')})`, ...unique];
  await client.query(
    `create temporary table import_${format.name} (${parts.join(', ')}) on commit drop`,
  );

  const lines: number[] = []; // by record
  const copy = async function* (): AsyncGenerator<Buffer, void> {
    for await (const batch of rows) {
      for (const { line } of batch) lines.push(line);
      yield Buffer.from(batch.map((row) => copyLine(row, columns, format)).join(''));
    }
  };

  const names = columns.map((column) => `"${column}"`).join(', ');
  const statement = `copy import_${format.name} (line, ${names}) from stdin with (encoding 'UTF8')`;
  try {
    await pipeline(
      Readable.from(copy(), { objectMode: false }),
      client.query(copyFrom(statement)),
      { signal },
    );
  } catch (error) {
    throw error instanceof DatabaseError ? refusalByPostgres(error, format, lines) : error;
  }

  await client.query(`analyze import_${format.name}`);
}

/**
 * Checks a row and writes it as a line of COPY's text format:
 * https://www.postgresql.org/docs/current/sql-copy.html
 *
 * @throws BadLine
 */
function copyLine({ line, fields }: Row, columns: readonly string[], format: FileFormat): string {
  const values = fields.map((field, index) => {
    const name = columns[index] ?? '';
    const { type, isNullable } = format.columns[name] ?? {};
    // The platform's CSV writes an empty text as it writes a null.
    const value = field ?? (type === 'text' && !isNullable ? '' : null);
    const reason = reasonForRefusal(format, name, value);
    if (reason !== undefined) throw new BadLine(line, reason);
    return value === null
      ? '\\N'
      : value.replaceAll(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '');
  });

  return `${line}\t${values.join('\t')}\n`;
}

const ESCAPES: { readonly [character: string]: string } = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
};

/** Turns an error of COPY about a record's values into a BadLine. */
function refusalByPostgres(
  error: DatabaseError,
  { columns, key, indexed = key }: FileFormat,
  lines: readonly number[],
): Error {
  const { code = '', constraint, message, detail, where = '' } = error;
  // In the server's language: COPY import_forms, line 7
  const line = lines[Number(/^COPY \w+\D+(\d+)/m.exec(where)?.[1]) - 1];
  if (line === undefined) return error;
  const columnOf = (kind: string) =>
    Object.keys(columns).find((name) => columns[name]?.type === kind) ?? '';
  if (code === '23505')
    return new BadLine(line, `has the same ${key.join(', ')} as an earlier line`, { cause: error });
  if (code === '23514')
    // RFC 3339 cannot express any other time
    return new BadLine(line, `${columnOf('timestamptz')}: is not in the years 1 to 9999 in UTC`, {
      cause: error,
    });
  if (constraint !== undefined)
    return new BadLine(line, `${indexed.join(', ')}: too long for an index: ${message}`, {
      cause: error,
    });
  const column = columnOf(code === '22008' ? 'timestamptz' : 'jsonb');
  const reason = detail === undefined ? message : `${message}: ${detail}`;
  return new BadLine(line, `${column}: cannot be stored: ${reason}`, { cause: error });
}
