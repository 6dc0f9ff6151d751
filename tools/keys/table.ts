import type { ListedKey } from './list.ts';
import { printable } from './printable.ts';
import { toTheMinute } from './times.ts';

const HEAD = ['id', 'account', 'name', 'prefix', 'created', 'expires', 'last used', 'state'];

/** @returns the keys as lines of text with a head, in columns; nothing in it controls a terminal */
export function toTable(keys: readonly ListedKey[]): string {
  const rows = [HEAD, ...keys.map((key) => cellsOf(key).map((cell) => printable(cell)))];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))));
  const pad = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell));
  return rows.map((row) => `${row.map(pad).join('  ').trimEnd()}\n`).join('');
}

function cellsOf({ id, email, name, prefix, created, expires, lastUsed, state }: ListedKey): string[] {
  const times = [
    toTheMinute(created),
    expires ? toTheMinute(expires) : 'never',
    lastUsed ? toTheMinute(lastUsed) : '-',
  ];
  return [id, email, name, prefix, ...times, state];
}

/** In characters as people count them. */
function widthOf(text: string): number {
  return Array.from(new Intl.Segmenter().segment(text)).length;
}
