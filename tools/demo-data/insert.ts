import type { Client } from 'pg';

/** Columns of a table and their types, in the order of the values in a row. */
export type ColumnTypes = Record<string, string>;

/** A row: its values as text that Postgres reads, by column. */
export type Values<C extends ColumnTypes> = { [Name in keyof C]: string | null };

const ROWS_A_STATEMENT = 1_000;

/** Inserts rows, a thousand a statement. Table and columns go into the SQL as they are. */
export async function insertRows<C extends ColumnTypes>(
  client: Client,
  table: string,
  columns: C,
  rows: Values<C>[],
): Promise<void> {
  const names = Object.keys(columns);
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  const sql = `insert into ${table} (${names.join(', ')}) select * from unnest(${arrays.join(', ')})`;
  for (let start = 0; start < rows.length; start += ROWS_A_STATEMENT) {
    const some = rows.slice(start, start + ROWS_A_STATEMENT);
    await client.query(
      sql,
      names.map((name) => some.map((row) => row[name])),
    );
  }
}
