import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Client, DatabaseError } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { counted } from '../command.ts';
import { BadLine } from './bad-line.ts';
import type { FileFormat } from './columns.ts';
import { parseHeader } from './header.ts';
import type { InputFile } from './input-file.ts';
import { type CsvRecord, fieldsOf, recordsOf } from './records.ts';
import { checkedFields, createTable, refusal } from './staging.ts';

export interface LoadOptions {
  signal: AbortSignal;
  /** Called with what is being done, such as `checking responses`, and how much of it. */
  onProgress: (phase: string, progress: string) => void;
  /** Called with remarks about a file that do not prevent loading it. */
  onNotice: (notice: string) => void;
}

/**
 * Loads a file into the temporary table `import_<name>`; `line` is the line on which the record
 * begins.
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
  const lines: number[] = []; // by record
  const content = file.content();
  try {
    const batches = recordsOf(content);
    const [first, ...rest] = (await batches.next()).value ?? [];
    const columns = parseHeader(first, format);
    const linesOfCopy = (records: readonly CsvRecord[]): Buffer => {
      for (const { line } of records) lines.push(line);
      onProgress(`reading ${format.name}`, `${counted(lines.length, 'row')}, ${file.progress()}`);
      return Buffer.from(records.map((record) => copyLine(format, columns, record)).join(''));
    };

    const copy = async function* (): AsyncGenerator<Buffer, void> {
      yield linesOfCopy(rest);
      for await (const records of batches) yield linesOfCopy(records);
    };

    await createTable(client, format);
    const names = columns.map((column) => `"${column}"`).join(', ');
    const statement = `copy import_${format.name} (line, ${names}) from stdin with (encoding 'UTF8')`;
    await pipeline(
      Readable.from(copy(), { objectMode: false }),
      client.query(copyFrom(statement)),
      { signal },
    );
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    // In the server's language: COPY import_forms, line 7
    const line = lines[Number(/^COPY \w+\D+(\d+)/m.exec(error.where ?? '')?.[1]) - 1];
    throw line === undefined ? error : refusal(format, line, error);
  } finally {
    await content.return();
  }

  await client.query(`analyze import_${format.name}`);
  if (lines.length === 0) onNotice(`${file.path}: has no rows after its header`);
  return lines.length;
}

/**
 * Writes a record as a line of COPY's text format:
 * https://www.postgresql.org/docs/current/sql-copy.html
 *
 * @throws BadLine for a record that cannot be stored, or does not have one field for each column
 */
function copyLine(format: FileFormat, columns: readonly string[], record: CsvRecord): string {
  const { line } = record;
  const fields = fieldsOf(record);
  if (fields.length !== columns.length)
    throw new BadLine(
      line,
      `must have ${columns.length} fields, like the header, but has ${fields.length}`,
    );
  const escaped = checkedFields(format, columns, line, fields).map(
    (value) => value?.replaceAll(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '') ?? '\\N',
  );
  return `${line}\t${escaped.join('\t')}\n`;
}

const ESCAPES: { readonly [character: string]: string } = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
};
