import { createHash } from 'node:crypto';

/** The hash of a record's fields: docs/sync.md. */
export function hashOf(cells: readonly (string | null)[]): Buffer {
  const text = cells.map((cell) => (cell === null ? '~' : `${Buffer.byteLength(cell)}:${cell}`)).join('');
  return createHash('md5').update(text).digest();
}

/** The sums of both halves of the hashes of records. */
export class Digest {
  records = 0;
  readonly #sums: [bigint, bigint] = [0n, 0n];

  add(hash: Buffer): void {
    this.records++;
    this.#sums[0] += hash.readBigUInt64BE(0);
    this.#sums[1] += hash.readBigUInt64BE(8);
  }

  toString(): string {
    return this.#sums.map((sum) => BigInt.asUintN(64, sum).toString(16).padStart(16, '0')).join('');
  }
}
