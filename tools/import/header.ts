import { BadLine, shown } from './bad-line.ts';
import { type FileFormat, formsFile, responsesFile } from './columns.ts';
import { type CsvRecord, fieldsOf } from './records.ts';

/**
 * Reads the column names, which may be in any order.
 *
 * @param record the file's first; undefined if it is empty
 * @returns the columns, in the order of the file
 * @throws BadLine for missing, unknown or repeated columns, or if this is the other of the two
 * files
 */
export function parseHeader(record: CsvRecord | undefined, format: FileFormat): string[] {
  if (!record) throw new BadLine(1, 'the file is empty: its first line must name the columns');

  const text = record.text.replace(/^\uFEFF/, '');
  const columns = fieldsOf({ ...record, text }).map((name) => name ?? '');
  const wanted = Object.keys(format.columns);
  const missing = wanted.filter((name) => !columns.includes(name));
  const excess = columns.filter(
    (name, index) => !wanted.includes(name) || columns.indexOf(name) < index,
  );

  const other = format === formsFile ? responsesFile : formsFile;
  if (missing.length > 0 && Object.keys(other.columns).every((name) => columns.includes(name)))
    throw new BadLine(
      1,
      `this looks like the ${other.name} file: did you swap --forms and --responses?`,
    );

  const faults = Object.entries({ lacks: missing, 'has unknown or repeated': excess })
    .filter(([, names]) => names.length > 0)
    .map(([verb, names]) => `${verb} ${names.map((name) => name || '""').join(', ')}`);
  if (faults.length > 0)
    throw new BadLine(
      1,
      `must name the columns of ${format.endpoint}, separated by commas, but is ${shown(text)}: it ${faults.join(', and ')}`,
    );
  return columns;
}
