import type { Response } from '../model/account.ts';
import { byCursor, primaryKeyOf } from '../model/order.ts';

/** More are not computed: so many changes of one participant during one request are rare. */
const MOST = 256;

/**
 * The lists of rows that a reader may get who reads each row once, at any of several moments,
 * because the pages of a file are read one after another.
 *
 * @param moments the rows at each moment
 */
export function mixturesOf(moments: readonly (readonly Response[])[]): (readonly Response[])[] {
  const keys = new Set(moments.flatMap((rows) => rows.map(primaryKeyOf)));
  const byKey = moments.map((rows) => new Map(rows.map((row) => [primaryKeyOf(row), row])));
  let mixtures: Response[][] = [[]];
  for (const key of keys) {
    const versions = [...new Set(byKey.map((rows) => rows.get(key)))];
    mixtures = mixtures.flatMap((rows) => versions.map((row) => (row ? rows.concat(row) : rows)));
    if (mixtures.length > MOST) return [...moments];
  }
  return mixtures.map((rows) => rows.toSorted(byCursor));
}
