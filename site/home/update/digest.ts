import { md5 } from '@noble/hashes/legacy.js';

/* The digests of docs/sync.md, "Computing a digest". */

/** The body of `/responses/digests`. */
export interface Digests {
  readonly forms: string;
  readonly digests: readonly {
    readonly start: string;
    readonly responses: number;
    readonly digest: string;
  }[];
}

/** YYYY-MM-DD. */
export const dayOf = ({ start }: { readonly start: string }) => start.slice(0, 10);

const encoder = new TextEncoder();

/** The text of a record of these cells: each with its length in bytes, and null as `~`. */
function textOf(cells: readonly (string | null)[]): string {
  let text = '';
  for (const cell of cells) {
    if (cell === null) text += '~';
    else {
      // Most cells are ASCII, with one byte per character.
      // oxlint-disable-next-line no-control-regex
      const length = /^[\0-\x7f]*$/.test(cell) ? cell.length : encoder.encode(cell).length;
      text += `${length}:${cell}`;
    }
  }
  return text;
}

/** The two numbers that a record adds to a digest. */
export type Hash = readonly [first: bigint, last: bigint];

/** @param cells in the order of the computation */
export function hashOf(cells: readonly (string | null)[]): Hash {
  const { buffer } = md5(encoder.encode(textOf(cells)));
  const view = new DataView(buffer);
  return [view.getBigUint64(0), view.getBigUint64(8)];
}

/** Sums the hashes of records, in any order. */
export class Digest {
  records = 0;
  #first = 0n;
  #last = 0n;

  add([first, last]: Hash): void {
    this.records++;
    this.#first = BigInt.asUintN(64, this.#first + first);
    this.#last = BigInt.asUintN(64, this.#last + last);
  }

  /** 32 hexadecimal digits. */
  sum(): string {
    return [this.#first, this.#last].map((half) => half.toString(16).padStart(16, '0')).join('');
  }
}
