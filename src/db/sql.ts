/** A row as Postgres prints it: texts and nulls. */
export type Row = readonly (string | null)[];

/** A query. A row that it returns must not consist of nulls alone. */
export interface Query {
  /** SQL with the parameters `$1`, `$2`, … */
  readonly text: string;
  readonly params: readonly Param[];
  /** The number of the parameter, from 1, with a limit that must reach the database as it is. */
  readonly limit?: number | undefined;
  /** For a query that stops after so many index entries. */
  readonly walk?: Walk | undefined;
}

/** How a query finds out that it has stopped early. It returns no rows then. */
export interface Walk {
  /** Common table expressions that `text` uses. */
  readonly ctes: string;
  /** The condition, on these expressions, for having stopped. */
  readonly isCut: string;
}

export type Param = string | number | readonly string[];
/** Adds a parameter to a query, and returns its `$n`. */
export type AddParam = (value: Param) => string;

/**
 * SQL for a timestamp as the API prints it: UTC, RFC 3339, with three fraction digits, or six if the microseconds are not zero.
 *
 * @param column an expression of type timestamptz; never user input
 */
export function isoTimestamp(column: string): string {
  return (
    `to_char(${column} at time zone 'UTC', case when date_part('microseconds', ${column})::int % 1000 = 0 ` +
    `then 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"' else 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"' end)`
  );
}
