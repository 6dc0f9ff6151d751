import type { Client, DatabaseError } from 'pg';
import { BadLine } from './bad-line.ts';
import type { FileFormat } from './columns.ts';
import { checkedFields, createTable, refusal } from './staging.ts';

const REFUSALS = 'data_exception or integrity_constraint_violation or program_limit_exceeded';

/**
 * Loads rows into the temporary table `import_<name>`, without those that cannot be stored. Their
 * `line` is their index. However many are refused, it takes one statement.
 *
 * @param client in a transaction
 * @param rows with the values of the format's columns
 * @returns why, for each row that is left out
 */
export async function loadValid(
  client: Client,
  format: FileFormat,
  rows: readonly (readonly (string | null)[])[],
): Promise<BadLine[]> {
  const columns = Object.keys(format.columns);
  const refused: BadLine[] = [];
  const checked = rows.flatMap((row, line) => {
    try {
      return [[line, ...checkedFields(format, columns, line, row)]];
    } catch (error) {
      refused.push(error as BadLine);
      return [];
    }
  });

  await createTable(client, format);
  const types = ['integer', ...Object.values(format.columns).map(({ type }) => type)];
  const values = types.map((type, index) => `(item ->> ${index})::${type}`);
  const insert = `insert into import_${format.name} select ${values.join(', ')}`;
  await client.query(
    `create or replace function pg_temp.load_valid(rows jsonb)
     returns table (line integer, code text, "constraint" text, message text, detail text)
     language plpgsql as $$
     #variable_conflict use_column
     declare
       item jsonb;
     begin
       ${insert} from jsonb_array_elements(rows) as page (item);
     exception when ${REFUSALS} then
       for item in select jsonb_array_elements(rows) loop
         begin
           ${insert};
         exception when ${REFUSALS} then
           get stacked diagnostics code = returned_sqlstate, "constraint" = constraint_name,
             message = message_text, detail = pg_exception_detail;
           line := item ->> 0;
           return next;
         end;
       end loop;
     end $$`,
  );

  const errors = await client.query<DatabaseError & { line: number }>(
    'select * from pg_temp.load_valid($1)',
    [JSON.stringify(checked)],
  );

  await client.query(`analyze import_${format.name}`);
  return [...refused, ...errors.rows.map((error) => refusal(format, error.line, error))];
}
