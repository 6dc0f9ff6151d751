import { integerAt } from '../../encode/bytes.ts';
import type { EncodedRows } from '../../encode/rows.ts';
import type { NumberCells } from './number-cells.ts';

const SECOND = 1_000_000n;
const PERCENTILES = [0, 50, 75, 90];
/** Of `2026-03-01T00:03:43.770Z`; other timestamps have microseconds. */
const MILLISECONDS_LENGTH = 24;

/**
 * How long the answers of a record took, in microseconds: those of 9,999 years need an integer of
 * 64 bits.
 */
export class Timing {
  #times = new BigInt64Array(128);
  #count = 0;

  /**
   * Adds the time of a final answer, not before the last one: a cell with a timestamp as the API
   * prints it.
   */
  add({ data: bytes, cells }: EncodedRows, cell: number): void {
    const at = cells[cell] as number;
    const end = (cells[cell + 1] as number) - 1;
    const month = twoAt(bytes, at + 5);
    // In years that begin in March, the days before a month are the same in every year.
    const year = 100 * twoAt(bytes, at) + twoAt(bytes, at + 2) - (month < 3 ? 1 : 0);
    const leapDays = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
    const daysBefore = Math.floor((153 * ((month + 9) % 12) + 2) / 5);
    const days = 365 * year + leapDays + daysBefore + twoAt(bytes, at + 8);

    const hours = 24 * days + twoAt(bytes, at + 11);
    const minutes = 60 * hours + twoAt(bytes, at + 14);
    const seconds = 60 * minutes + twoAt(bytes, at + 17);
    const fraction = integerAt(bytes, at + 20, end - 1);
    const micros = end - at > MILLISECONDS_LENGTH ? fraction : 1000 * fraction;

    const i = this.#count++;
    if (i === this.#times.length)
      this.#times = new BigInt64Array(this.#times.buffer.transfer(16 * i));
    this.#times[i] = SECOND * BigInt(seconds) + BigInt(micros);
  }

  /**
   * Writes the cells of TIMING_COLUMNS, without those of times between answers if there is only one
   * answer. Percentiles between two times are interpolated linearly, as by default in numpy, and
   * rounded half up. The next time begins another record.
   *
   * @param corrections the number of the other answers
   */
  write(cells: NumberCells, corrections: number): void {
    const times = this.#times;
    const last = this.#count - 1;
    this.#count = 0;
    cells.add(last + 1).add(corrections);
    addTime(cells, at(times, last) - at(times, 0));

    for (let i = 0; i < last; i++) times[i] = at(times, i + 1) - at(times, i);
    const gaps = times.subarray(0, last);
    gaps.sort();

    for (const percent of last > 0 ? PERCENTILES : []) {
      const position = percent * (last - 1);
      const low = at(gaps, Math.floor(position / 100));
      const high = at(gaps, Math.ceil(position / 100));
      addTime(cells, low + (BigInt(position % 100) * (high - low) + 50n) / 100n);
    }
  }
}

const at = (times: BigInt64Array, i: number) => times[i] as bigint;

/** The number of two digits. */
const twoAt = (bytes: Uint8Array, i: number) =>
  10 * (bytes[i] as number) + (bytes[i + 1] as number) - 11 * 0x30;

const addTime = (cells: NumberCells, micros: bigint) =>
  cells.add(Number(micros / SECOND), Number(micros % SECOND));
