import type { Client, DatabaseError } from 'pg';
import { BadLine } from './bad-line.ts';
import { type FileFormat, reasonForRefusal } from './columns.ts';

/**
 * Creates the temporary table `import_<name>`: `line`, then the format's columns with their types.
 * It is dropped at the end of the transaction.
 */
export async function createTable(client: Client, format: FileFormat): Promise<void> {
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
}

/** Columns of a table in SQL, or their text. */
export function columnsOf(table: string, names: readonly string[], cast = ''): string {
  return names.map((name) => `${table}.${name}${cast}`).join(', ');
}

type Fields = readonly (string | null)[];

/**
 * Checks a row's fields, as far as that needs no database.
 *
 * @param columns their names
 * @returns the values to store
 * @throws BadLine
 */
export function checkedFields(
  format: FileFormat,
  columns: readonly string[],
  line: number,
  fields: Fields,
): Fields {
  return fields.map((field, index) => {
    const name = columns[index] ?? '';
    const { type, isNullable } = format.columns[name] ?? {};
    // The platform's CSV writes an empty text as it writes a null.
    const value = field ?? (type === 'text' && !isNullable ? '' : null);
    const reason = reasonForRefusal(format, name, value);
    if (reason !== undefined) throw new BadLine(line, reason);
    return value;
  });
}

/** Why Postgres refused a row, from the fields of its error. */
export function refusal(
  { columns, key, indexed = key }: FileFormat,
  line: number,
  { code, constraint, message, detail }: DatabaseError,
): BadLine {
  const because = (reason: string) => new BadLine(line, reason);
  const columnOf = (kind: string) =>
    Object.keys(columns).find((name) => columns[name]?.type === kind) ?? '';
  if (code === '23505') return because(`has the same ${key.join(', ')} as an earlier line`);
  if (code === '23514')
    // RFC 3339 cannot express any other time
    return because(`${columnOf('timestamptz')}: is not in the years 1 to 9999 in UTC`);
  if (constraint) return because(`${indexed.join(', ')}: too long for an index: ${message}`);
  const column = columnOf(code === '22008' ? 'timestamptz' : 'jsonb');
  return because(`${column}: cannot be stored: ${message}${detail ? `: ${detail}` : ''}`);
}
