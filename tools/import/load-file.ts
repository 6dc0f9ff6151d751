import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Client, DatabaseError } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { BadLine, shown } from './bad-line.ts';
import { type FileFormat, invalidColumn, reasonForRefusal } from './columns.ts';
import { parseHeader, splitFirstLine } from './header.ts';
import type { InputFile } from './input-file.ts';
import { RecordNumberer } from './number-records.ts';

export interface ImportProgress {
  /** What is being done, such as `checking responses`. */
  phase: string;
  /** Records of the file read so far. */
  rows: number;
  /** Bytes of the file read so far, as stored on disk. */
  bytesRead: number;
  /** Size of the file in bytes; null for a pipe. */
  size: number | null;
}

export interface LoadOptions {
  signal: AbortSignal;
  onProgress: (progress: ImportProgress) => void;
  /** Called with remarks about a file that do not prevent loading it. */
  onNotice: (notice: string) => void;
}

/**
 * Loads a file into the temporary table `import_<name>`: `line`, the line on which the record begins, then the file's columns
 * with their types. The table is dropped at the end of the transaction.
 *
 * @param client in a transaction
 * @returns the number of records
 * @throws BadLine for the first record that is malformed, has an invalid value, or has the key of another record
 * @throws the signal's reason once it is aborted
 */
export async function loadFile(
  client: Client,
  file: InputFile,
  format: FileFormat,
  options: LoadOptions,
): Promise<number> {
  await createTables(client, format);
  const rows = await copy(client, file, format, options);
  options.signal.throwIfAborted();
  options.onProgress({ phase: `checking ${format.name}`, rows, bytesRead: file.bytesRead, size: file.size });
  await checkTexts(client, format);
  options.signal.throwIfAborted();
  await convert(client, format);
  await client.query(`drop table import_${format.name}_text`);
  await client.query(`analyze import_${format.name}`);
  options.signal.throwIfAborted();
  return rows;
}

async function createTables(client: Client, { name, columns, key }: FileFormat): Promise<void> {
  const texts = Object.keys(columns).map((column) => `"${column}" text`);
  const typed = Object.entries(columns).map(([column, { type }]) => `"${column}" ${type}`);
  await client.query(`create temporary table import_${name}_text (line integer, ${texts.join(', ')}) on commit drop`);
  await client.query(
    `create temporary table import_${name} (line integer, ${typed.join(', ')}, primary key (${key.join(', ')}))
     on commit drop`,
  );
  await client.query(`create temporary sequence import_${name}_line`);
}

async function copy(
  client: Client,
  file: InputFile,
  format: FileFormat,
  { signal, onProgress, onNotice }: LoadOptions,
): Promise<number> {
  const content = file.content();
  try {
    const { firstLine, rest } = await splitFirstLine(content);
    const { columns, delimiter } = parseHeader(firstLine, format);
    if (delimiter !== ',')
      onNotice(`${file.path}: columns are separated by ${delimiter === ';' ? 'semicolons' : 'tabs'}, not commas`);
    const numberer = new RecordNumberer(delimiter);
    const numbered = async function* (): AsyncGenerator<Uint8Array, void> {
      // COPY skips this header, but counts it, so that its line numbers are those of the file.
      yield Buffer.from('line\n');
      for await (const chunk of rest) {
        yield numberer.push(chunk);
        const { bytesRead, size } = file;
        onProgress({ phase: `reading ${format.name}`, rows: numberer.count, bytesRead, size });
      }
      numberer.end();
    };
    const names = columns.map((column) => `"${column}"`).join(', ');
    const statement =
      `copy import_${format.name}_text (line, ${names}) from stdin ` +
      `with (format csv, header, delimiter '${delimiter}', encoding 'UTF8')`;
    await pipeline(Readable.from(numbered(), { objectMode: false }), client.query(copyFrom(statement)), { signal });
    return numberer.count;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof DatabaseError ? malformedRecord(error, format) : error;
  } finally {
    await content.return();
  }
}

/** Turns an error of COPY about a record into a BadLine. */
function malformedRecord(error: DatabaseError, { columns }: FileFormat): Error {
  // In any language: COPY import_forms_text, line 7: "5,the record after our line number
  const [, lastLine, firstLine, beginning] = /^COPY \w+\D+(\d+)(?:\D+(\d+)[,;\t](.*))?/s.exec(error.where ?? '') ?? [];
  if (error.code === '22021') {
    const reason = error.message.endsWith('0x00')
      ? 'has a NUL character, which Postgres cannot store'
      : 'is not valid UTF-8: save the file as UTF-8 and try again';
    return new BadLine(Number(lastLine), reason, { cause: error });
  }
  if (error.code !== '22P04' || firstLine === undefined) return error;
  const isEmpty = beginning !== undefined && beginning.length <= 1; // COPY's closing quotation mark
  const reason = `must have ${Object.keys(columns).length} fields, like the header: ${error.message}`;
  return new BadLine(Number(firstLine), isEmpty ? 'is empty' : reason, { cause: error });
}

async function checkTexts(client: Client, format: FileFormat): Promise<void> {
  const { rows } = await client.query<{ line: number; invalid: string; [column: string]: unknown }>(
    `select *
     from (select *, ${invalidColumn(format)} as invalid from import_${format.name}_text) as checked
     where invalid is not null order by line limit 1`,
  );
  const [row] = rows;
  if (row) throw new BadLine(row.line, reasonForRefusal(format, row.invalid, row[row.invalid] as string | null));
}

/** Fills the typed table. If Postgres rejects a value, a sequence has its line: sequences are not rolled back. */
async function convert(client: Client, format: FileFormat): Promise<void> {
  const { name } = format;
  const values = Object.entries(format.columns).map(([column, { type }]) => `"${column}"::${type}`);
  await client.query('savepoint before_conversion');
  try {
    await client.query(
      `insert into import_${name}
       select setval('import_${name}_line', line), ${values.join(', ')} from import_${name}_text`,
    );
  } catch (error) {
    if (!(error instanceof DatabaseError && isAboutTheData(error))) throw error;
    await client.query('rollback to savepoint before_conversion');
    const { rows } = await client.query<{ line: number; [column: string]: unknown }>(
      `select file.* from import_${name}_text as file join import_${name}_line on line = last_value`,
    );
    const [row] = rows;
    if (!row) throw error;
    throw new BadLine(row.line, await refusalByPostgres(client, format, row, error), { cause: error });
  }
}

/** Data exception, integrity constraint violation, program limit exceeded. */
function isAboutTheData({ code }: DatabaseError): boolean {
  return /^(22|23|54)/.test(code ?? '');
}

async function refusalByPostgres(
  client: Client,
  format: FileFormat,
  row: { line: number; [column: string]: unknown },
  error: DatabaseError,
): Promise<string> {
  const { code, constraint, message, detail } = error;
  const key = format.key.join(', ');
  if (code === '23505') return `has the same ${key} as line ${await earlierLine(client, format, row.line)}`;
  if (constraint !== undefined) return `${key}: too long for an index: ${message}`;
  const type = code === '22008' ? 'timestamptz' : 'jsonb';
  const column = Object.keys(format.columns).find((name) => format.columns[name]?.type === type) ?? '';
  const value = shown(String(row[column]));
  return `${column}: ${value} cannot be stored: ${detail === undefined ? message : `${message}: ${detail}`}`;
}

async function earlierLine(client: Client, { name, columns, key }: FileFormat, line: number): Promise<number> {
  const values = key.map((column) => `"${column}"::${columns[column]?.type}`).join(', ');
  // CASE, because later lines may have values that cannot be converted.
  const { rows } = await client.query<{ line: number }>(
    `select line from import_${name}_text
     where case when line < $1 then (${values}) = (select ${values} from import_${name}_text where line = $1) end`,
    [line],
  );
  return rows[0]?.line ?? line;
}
