import type { Client } from 'pg';

/** Columns of a table and their types, in the order of the values in a row. */
export type ColumnTypes = Record<string, string>;

/** A row: its values in Postgres's text format, by column. */
export type Values<C extends ColumnTypes> = { [Name in keyof C]: string | null };

/** Inserts rows. The names of the table and its columns are not escaped. */
export async function insertRows<C extends ColumnTypes>(
  client: Client,
  table: string,
  columns: C,
  rows: Values<C>[],
): Promise<void> {
  const names = Object.keys(columns);
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  const sql = `insert into ${table} (${names.join(', ')}) select * from unnest(${arrays.join(', ')})`;
  await client.query(
    sql,
    names.map((name) => rows.map((row) => row[name])),
  );
}
