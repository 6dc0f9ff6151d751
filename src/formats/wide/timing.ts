import { integerAt } from '../../encode/bytes.ts';
import type { NumberCells } from './number-cells.ts';

const SECOND = 1_000_000;
const PERCENTILES = [0, 50, 75, 90];
/** Of `2026-03-01T00:03:43.770Z`; other timestamps have microseconds. */
const MILLISECONDS_LENGTH = 24;
/** The distances of a Shell sort: https://oeis.org/A102549 */
const DISTANCES = [1750, 701, 301, 132, 57, 23, 10, 4, 1];

/**
 * How long the answers of a record took. It creates no object per answer or record.
 *
 * A time or a duration is two numbers, whole seconds and, to be added, 0 to 999,999 microseconds: one might not hold it exactly.
 */
export class Timing {
  #times = new Float64Array(128);
  #count = 0;

  /** Adds the time of a final answer, in ascending order: the API's timestamp at a position. @param end of the timestamp */
  add(bytes: Uint8Array, at: number, end: number): void {
    const month = twoAt(bytes, at + 5);
    // In years that begin in March, the days before a month are the same in every year.
    const year = 100 * twoAt(bytes, at) + twoAt(bytes, at + 2) - (month < 3 ? 1 : 0);
    const leapDays = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
    const daysBefore = Math.floor((153 * ((month + 9) % 12) + 2) / 5);
    const days = 365 * year + leapDays + daysBefore + twoAt(bytes, at + 8);
    const second = 3600 * twoAt(bytes, at + 11) + 60 * twoAt(bytes, at + 14) + twoAt(bytes, at + 17);
    const fraction = integerAt(bytes, at + 20, end - 1);
    const i = 2 * this.#count++;
    if (i === this.#times.length) this.#times = new Float64Array(this.#times.buffer.transfer(16 * i));
    this.#times[i] = 86_400 * days + second;
    this.#times[i + 1] = end - at > MILLISECONDS_LENGTH ? fraction : 1000 * fraction;
  }

  /**
   * Writes the cells of TIMING_COLUMNS, without those that are null: with one answer there is no time between two. As numpy's
   * default, a percentile between two times is interpolated linearly. The next time begins another record.
   *
   * @param corrections the number of the other answers
   */
  write(cells: NumberCells, corrections: number): void {
    const times = this.#times;
    const count = this.#count;
    this.#count = 0;
    const last = 2 * (count - 1);
    cells.add(count).add(corrections);
    addTime(cells, at(times, last) - at(times, 0), at(times, last + 1) - at(times, 1));
    if (count < 2) return;
    for (let i = 0; i < last; i += 2) {
      const micros = at(times, i + 3) - at(times, i + 1);
      const borrowed = micros < 0 ? 1 : 0;
      times[i] = at(times, i + 2) - at(times, i) - borrowed;
      times[i + 1] = micros + SECOND * borrowed;
    }
    sort(times, count - 1);
    for (const percent of PERCENTILES) addPercentile(cells, times, count - 1, percent);
  }
}

const at = (times: Float64Array, i: number) => times[i] as number;

/** The number of two digits. */
const twoAt = (bytes: Uint8Array, i: number) => 10 * (bytes[i] as number) + (bytes[i + 1] as number) - 11 * 0x30;

function sort(times: Float64Array, count: number): void {
  for (const distance of DISTANCES) {
    for (let next = distance; next < count; next++) {
      const seconds = at(times, 2 * next);
      const micros = at(times, 2 * next + 1);
      let i = 2 * next;
      for (; i >= 2 * distance; i -= 2 * distance) {
        const before = i - 2 * distance;
        const difference = at(times, before) - seconds || at(times, before + 1) - micros;
        if (difference <= 0) break;
        times[i] = at(times, before);
        times[i + 1] = at(times, before + 1);
      }
      times[i] = seconds;
      times[i + 1] = micros;
    }
  }
}

/** @param micros up to a second more or less than there can be */
function addTime(cells: NumberCells, seconds: number, micros: number): void {
  if (micros < 0) cells.add(seconds - 1, micros + SECOND);
  else if (micros < SECOND) cells.add(seconds, micros);
  else cells.add(seconds + 1, micros - SECOND);
}

/** Adds a percentile of sorted times, rounded half up. */
function addPercentile(cells: NumberCells, times: Float64Array, count: number, percent: number): void {
  const position = percent * (count - 1);
  const part = position % 100;
  const low = (2 * (position - part)) / 100;
  if (part === 0) return addTime(cells, at(times, low), at(times, low + 1));
  // The seconds are exact in hundredths, and so are the rest of them and the microseconds in hundredths of a microsecond.
  const seconds = part * (at(times, low + 2) - at(times, low));
  const rest = seconds % 100;
  const micros = SECOND * rest + part * (at(times, low + 3) - at(times, low + 1));
  addTime(cells, at(times, low) + (seconds - rest) / 100, at(times, low + 1) + Math.floor((micros + 50) / 100));
}
