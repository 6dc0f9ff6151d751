import { BadLine } from './bad-line.ts';
import { type FileFormat, formsFile, responsesFile } from './columns.ts';

const LF = 0x0a;
const MAX_HEADER_BYTES = 64 * 1024;

const DELIMITERS = [',', ';', '\t'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

export interface Header {
  /** The file's columns, in its order. */
  columns: string[];
  delimiter: Delimiter;
}

/**
 * Splits a file's first line from the rest.
 *
 * @param content the file's bytes, split anywhere
 * @returns the first line without a byte order mark and line end, and the rest
 * @throws BadLine if the file is empty or its first line is not UTF-8
 */
export async function splitFirstLine(
  content: AsyncGenerator<Uint8Array, void>,
): Promise<{ firstLine: string; rest: AsyncGenerator<Uint8Array, void> }> {
  let head = Buffer.alloc(0);
  while (!head.includes(LF) && head.length < MAX_HEADER_BYTES) {
    const next = await content.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const lineEnd = head.indexOf(LF);
  const end = lineEnd === -1 ? head.length : lineEnd;
  const firstLine = decode(head.subarray(0, end)).replace(/\r$/, '');
  if (firstLine === '' && lineEnd === -1)
    throw new BadLine(1, 'the file is empty: its first line must name the columns');
  return { firstLine, rest: chain(head.subarray(end + 1), content) };
}

/**
 * Reads the column names, which may be in any order, and detects the delimiter.
 *
 * @throws BadLine for missing, unknown or repeated columns, or if this is the other of the two files
 */
export function parseHeader(firstLine: string, format: FileFormat): Header {
  const occurrences = (delimiter: string): number => firstLine.split(delimiter).length;
  const delimiter = DELIMITERS.reduce((best, next) => (occurrences(next) > occurrences(best) ? next : best));
  const columns = firstLine.split(delimiter).map((name) => name.replace(/^"(.*)"$/s, '$1'));
  const wanted = Object.keys(format.columns);
  const missing = wanted.filter((name) => !columns.includes(name));
  const unknown = columns.filter((name) => !wanted.includes(name));
  const repeated = columns.filter((name, index) => wanted.includes(name) && columns.indexOf(name) < index);

  const other = format === formsFile ? responsesFile : formsFile;
  if (missing.length > 0 && Object.keys(other.columns).every((name) => columns.includes(name)))
    throw new BadLine(1, `this looks like the ${other.name} file: did you swap --forms and --responses?`);
  const faults = [list('lacks', missing), list('has unknown', unknown), list('repeats', repeated)].filter(Boolean);
  if (faults.length > 0) throw new BadLine(1, `the header ${faults.join('; it ')}`);
  return { columns, delimiter };
}

function list(verb: string, names: string[]): string {
  if (names.length === 0) return '';
  return `${verb} ${names.length === 1 ? 'column' : 'columns'} ${names.map((name) => name || '""').join(', ')}`;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes); // strips the byte order mark
  } catch (cause) {
    throw new BadLine(1, 'is not valid UTF-8: save the file as UTF-8 and try again', { cause });
  }
}

async function* chain(first: Uint8Array, rest: AsyncGenerator<Uint8Array, void>): AsyncGenerator<Uint8Array, void> {
  yield first;
  yield* rest;
}
