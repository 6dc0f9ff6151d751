import { utf8 } from './bytes.ts';
import { type EncodedRows, isAt } from './rows.ts';

/** A map from texts to values, looked up by a cell's UTF-8 in place, without creating a string. */
export class ByteMap<V> {
  readonly #byHash: ReadonlyMap<number, readonly { readonly key: Uint8Array; readonly value: V }[]>;

  constructor(entries: Iterable<readonly [string, V]>) {
    const encoded = Array.from(entries, ([text, value]) => ({ key: utf8.encode(text), value }));
    this.#byHash = Map.groupBy(encoded, ({ key }) => hashOf(key, 0, key.length));
  }

  /** @returns the value for the text of a cell */
  get({ data, cells }: EncodedRows, cell: number): V | undefined {
    const start = cells[cell] as number;
    const end = (cells[cell + 1] as number) - 1;
    for (const { key, value } of this.#byHash.get(hashOf(data, start, end)) ?? [])
      if (key.length === end - start && isAt(key, data, start)) return value;
    return undefined;
  }
}

/** Hashes the bytes between two positions, four at a time, which is twice as fast as one by one. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  let at = start;

  for (; at + 4 <= end; at += 4) {
    const four =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    hash = Math.imul(hash ^ four, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x9e3779b1);

  return hash;
}
