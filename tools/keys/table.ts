import type { ListedKey } from './list.ts';
import { printable } from './printable.ts';
import { toTheMinute } from './times.ts';

const HEADER = ['id', 'account', 'name', 'prefix', 'created', 'expires', 'last used', 'state'];

/** @returns the keys as an aligned table with a header, without control characters */
export function toTable(keys: readonly ListedKey[]): string {
  const rows = [HEADER, ...keys.map((key) => cellsOf(key).map((cell) => printable(cell)))];
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))));
  const pad = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell));
  return rows.map((row) => `${row.map(pad).join('  ').trimEnd()}\n`).join('');
}

function cellsOf({ id, email, name, prefix, created, expires, lastUsed, state }: ListedKey): string[] {
  const time = (iso: string | null, none: string) => (iso ? toTheMinute(iso) : none);
  return [id, email, name, prefix, toTheMinute(created), time(expires, 'never'), time(lastUsed, '-'), state];
}

/** The number of characters as users see them (grapheme clusters). */
const widthOf = (text: string) => Array.from(new Intl.Segmenter().segment(text)).length;
