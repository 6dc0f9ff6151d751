/**
 * SQL for a `timestamptz` column as ISO 8601 in UTC with milliseconds, as in JSON. Null for null
 * and for `infinity`: an expiry of either means that the key does not expire.
 */
export const isoTime = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * @param iso such as `2026-11-21T10:15:30.123Z`. @returns the time to the minute: `2026-11-21
 * 10:15Z`
 */
export const toTheMinute = (iso: string) => `${iso.slice(0, 10)} ${iso.slice(11, 16)}Z`;
