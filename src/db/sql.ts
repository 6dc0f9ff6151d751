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
