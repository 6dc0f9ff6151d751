import { createHash } from 'node:crypto';
import { DIGEST_FIELDS } from '../../src/responses/columns.ts';

/** The names of a response's fields. */
export const FIELDS: readonly string[] = DIGEST_FIELDS.map(({ name }) => name);

/** The digest of records, from the fields of each: docs/internals/digests.md. */
export class Digest {
  records = 0;
  readonly #sums: [bigint, bigint] = [0n, 0n];

  add(fields: readonly (string | null)[]): void {
    const text = fields
      .map((field) => (field === null ? '~' : `${Buffer.byteLength(field)}:${field}`))
      .join('');
    const hash = createHash('md5').update(text).digest();
    this.records++;
    this.#sums[0] += hash.readBigUInt64BE(0);
    this.#sums[1] += hash.readBigUInt64BE(8);
  }

  toString(): string {
    return this.#sums.map((sum) => BigInt.asUintN(64, sum).toString(16).padStart(16, '0')).join('');
  }
}
