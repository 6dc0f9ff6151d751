/** Microseconds since 2026-03-01T00:00:00Z: a number that keeps all digits of a timestamp. */
export type Moment = number;

const START = Date.UTC(2026, 2, 1);

/** A timestamp as the API writes it: with three fraction digits, or six if the microseconds are not zero. */
export function timestampOf(moment: Moment): string {
  const rest = ((moment % 1000) + 1000) % 1000;
  const text = new Date(START + Math.floor(moment / 1000)).toISOString();
  return rest === 0 ? text : text.replace('Z', `${String(rest).padStart(3, '0')}Z`);
}
