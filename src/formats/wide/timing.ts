import { TIMING_COLUMNS } from '../../responses/wide-columns.ts';

const PERCENTILES = [50n, 75n, 90n];

/**
 * The cells of {@link TIMING_COLUMNS}, without those that are null: with one answer there is no time between two. As numpy's
 * default, a percentile between two times is interpolated linearly.
 *
 * @param times of the final answers, in microseconds
 * @param corrections the number of the other answers
 */
export function timingCells(times: readonly bigint[], corrections: number): string[] {
  const sorted = times.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const [first = 0n] = sorted;
  const duration = (sorted.at(-1) ?? first) - first;
  const cells = [String(times.length), String(corrections), seconds(duration)];
  const gaps = sorted.slice(1).map((time, i) => time - (sorted[i] as bigint));
  gaps.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const [least] = gaps;
  if (least === undefined) return cells;
  return [...cells, seconds(least), ...PERCENTILES.map((percent) => seconds(percentile(gaps, percent)))];
}

/** How many of {@link TIMING_COLUMNS} are null. */
export const missingCells = (cells: readonly string[]) => TIMING_COLUMNS.length - cells.length;

/** A percentile of sorted whole numbers, rounded half up. */
function percentile(sorted: readonly bigint[], percent: bigint): bigint {
  const position = percent * BigInt(sorted.length - 1);
  const low = sorted[Number(position / 100n)] as bigint;
  const high = sorted[Number(position / 100n) + 1] ?? low;
  return low + ((high - low) * (position % 100n) + 50n) / 100n;
}

/** Microseconds as decimal seconds, without trailing zeros. */
const seconds = (microseconds: bigint): string =>
  `${microseconds / 1_000_000n}.${String(microseconds % 1_000_000n).padStart(6, '0')}`.replace(/\.?0+$/, '');
