import { type Client, DatabaseError } from 'pg';
import { commandName, UserError } from './command.ts';

/** SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const INSUFFICIENT_PRIVILEGE = '42501';
const INVALID_SCHEMA_NAME = '3F000';
const READ_ONLY_SQL_TRANSACTION = '25006';

const MESSAGE =
  /^permission denied (?:for|to create temporary tables in) (table|schema|database) "?(.+?)"?$/;

/**
 * The rights that commands use, by kind of object, each with what a statement that needs it
 * contains. All need the first.
 */
const RIGHTS: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  table: { select: /./, insert: /\binsert\b/i, update: /\bupdate\b/i, delete: /\bdelete\b/i },
  schema: { usage: /./, create: /\bcreate\b/i },
  database: { create: /\bcreate schema\b/i, temporary: /\btemporary\b/i },
};

/**
 * Explains an error of Postgres for a right that its user lacks: names the right, the command that
 * needs it, and what to do.
 *
 * @param client the one whose statement failed, which is no longer in a transaction
 * @param error the error of Postgres, or one that it caused
 * @param statement the one that failed, which the error does not contain
 * @returns the error for the user; any other error unchanged
 */
export async function explainMissingRight(
  client: Client,
  error: unknown,
  statement: string,
): Promise<unknown> {
  const cause = databaseErrorIn(error);
  if (cause?.code === READ_ONLY_SQL_TRANSACTION)
    return new UserError(
      `The database is read-only, but ${commandName()} has to write (${cause.message}): use the URL of the primary server, ` +
        'and a user for whom default_transaction_read_only is off.',
      { cause: error },
    );
  if (cause?.code !== INSUFFICIENT_PRIVILEGE && cause?.code !== INVALID_SCHEMA_NAME) return error;
  const { rows } = await client.query<{ user: string; path: string }>(
    `select quote_ident(current_user) as user, current_setting('search_path') as path`,
  );
  const { user = '', path = '' } = rows[0] ?? {};
  if (cause.code === INVALID_SCHEMA_NAME)
    return new UserError(
      `The database user ${user} has no schema in which ${commandName()} can create tables: none of the search_path ${path} ` +
        `exists and can be used. Create it, or run "grant usage, create on schema public to ${user}" as a user who may.`,
      { cause: error },
    );
  const { right, grant } = await missingRight(client, cause, { user, statement });
  const instead = grant === undefined ? '' : `, or run "${grant}" as a user who may`;
  return new UserError(
    `The database user ${user} lacks ${right}, which ${commandName()} needs: use the URL of the tables' owner${instead}.`,
    { cause: error },
  );
}

/** An error that was explained already has none. */
function databaseErrorIn(error: unknown): DatabaseError | undefined {
  if (error instanceof DatabaseError) return error;
  return error instanceof Error && !(error instanceof UserError)
    ? databaseErrorIn(error.cause)
    : undefined;
}

/**
 * @returns the first right that is missing, and the statement that grants it; for a message in
 * another language, the message
 */
async function missingRight(
  client: Client,
  { message }: DatabaseError,
  { user, statement }: { user: string; statement: string },
): Promise<{ right: string; grant?: string }> {
  if (message.startsWith('permission denied to create role'))
    return { right: 'CREATEROLE', grant: `alter role ${user} createrole` };
  const [, kind = '', name = ''] = MESSAGE.exec(message) ?? [];
  const used = Object.entries(RIGHTS[kind] ?? {}).flatMap(([right, words]) =>
    words.test(statement) ? [right] : [],
  );
  for (const right of used) {
    const { rows } = await client.query<{ quoted: string }>(
      `select quote_ident($1) as quoted where not has_${kind}_privilege($1, $2)`,
      [name, right],
    );
    const on = `on ${kind} ${rows[0]?.quoted}`;
    if (rows.length > 0)
      return { right: `${right.toUpperCase()} ${on}`, grant: `grant ${right} ${on} to ${user}` };
  }
  return { right: `a right (${message})` };
}
