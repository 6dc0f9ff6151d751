import type { Cursor } from '../responses/cursor.ts';
import type { Database } from '../db/client.ts';
import { BY_TIME, type Order } from '../db/order.ts';
import { borderQuery } from '../db/responses.ts';
import type { Selection } from '../db/selection.ts';
import type { ResponseReader } from './read-ahead.ts';

/** Looks up the borders of the pages to come. */
export function readBorders(
  db: Database,
  selection: Selection,
  signal: AbortSignal,
  order: Order = BY_TIME,
): ResponseReader<never>['borders'] {
  return async (range, pageRows) => {
    const rows = await db.rows(borderQuery(selection, range, pageRows, order), { signal, patience: 'export' });
    return rows.map((row) => placeOf(row) as Required<Cursor>);
  };
}

/** @param key a row's values of {@link borderQuery}'s columns, or none */
export function placeOf(key: readonly (string | null)[]): Required<Cursor> | undefined {
  if (key.length === 0) return undefined;
  const [timestamp, userid, questionRef, surveyid] = key as [string, string, string, string];
  return { timestamp, userid, questionRef, surveyid };
}
