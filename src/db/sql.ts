/**
 * The name of each query's last column. The client replaces it by a random name for every attempt and expects that name in
 * the result, so the result of another request, or an earlier one of the same, is never used.
 */
export const RESULT_NAME = '"result name"';

/**
 * A last column that holds, in every row, the result's name and number of rows. The client compares them with the result, so
 * rows that belong to another result, or are incomplete, are never used either.
 *
 * @param rows SQL for the number of rows
 */
export const checkColumn = (rows = 'count(*) over ()') => `concat('${RESULT_NAME} ', ${rows}) as ${RESULT_NAME}`;

/** The value of a {@link checkColumn}. */
export const checkText = (name: string, rowCount: number) => `${name} ${rowCount}`;

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
