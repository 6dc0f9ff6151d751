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
  file: InputFile,
  format: FileFormat,
  { signal, onProgress, onNotice }: LoadOptions,
): Promise<number> {
  const typed = Object.entries(format.columns).map(([column, { type }]) => {
    const check =
      type === 'timestamptz'
        ? ` check ("${column}" >= '0001-01-01Z' and "${column}" < '10000-01-01Z')`
        : '';
    return `"${column}" ${type}${check}`;
  });

  const unique = format.indexed ? [`unique (${format.indexed.join(', ')})`] : [];
  const columns = ['line integer', ...typed, `primary key (${format.key.join(', ')})`, ...unique];
  await client.query(
    `create temporary table import_${format.name} (${columns.join(', ')}) on commit drop`,
  );

  const lines: number[] = []; // by record
  const content = file.content();
  try {
    const batches = recordsOf(content);
    const [first, ...rest] = (await batches.next()).value ?? [];
    const columnNames = parseHeader(first, format);
    const copied = (records: readonly CsvRecord[]): Buffer => {
      for (const { line } of records) lines.push(line);
      onProgress(`reading ${format.name}`, `${counted(lines.length, 'row')}, ${file.progress()}`);
      return Buffer.from(records.map((record) => copyLine(record, columnNames, format)).join(''));
    };

    const copy = async function* (): AsyncGenerator<Buffer, void> {
      yield copied(rest);
      for await (const records of batches) yield copied(records);
    };

    const names = columnNames.map((column) => `"${column}"`).join(', ');
    const statement = `copy import_${format.name} (line, ${names}) from stdin with (encoding 'UTF8')`;
    await pipeline(
      Readable.from(copy(), { objectMode: false }),
      client.query(copyFrom(statement)),
      { signal },
    );
  } catch (error) {
    throw error instanceof DatabaseError ? refusalByPostgres(error, format, lines) : error;
  } finally {
    await content.return();
  }

  await client.query(`analyze import_${format.name}`);
  if (lines.length === 0) onNotice(`${file.path}: has no rows after its header`);
  return lines.length;
}

/**
 * Checks a record and writes it as a line of COPY's text format:
 * https://www.postgresql.org/docs/current/sql-copy.html
 *
 * @throws BadLine
 */
function copyLine(record: CsvRecord, columns: readonly string[], format: FileFormat): string {
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
  const values = fields.map((value, index) => {
    const reason = reasonForRefusal(format, columns[index] ?? '', value);
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
