/** Large enough that the cost of a write does not show, small beside the pages. */
const CHUNK_BYTES = 128 * 1024;

const utf8 = new TextEncoder();

/** Collects text, and gives it out as UTF-8 in chunks of 128 KiB. A chunk's memory is that of the one before. */
export class Chunks {
  readonly #chunk = new Uint8Array(CHUNK_BYTES);
  #text = '';

  add(text: string): void {
    this.#text += text;
  }

  /** Whether there is a chunk to give out. */
  get isFull(): boolean {
    return this.#text.length >= CHUNK_BYTES; // a character is a byte at least
  }

  /** All full chunks. */
  *full(): Generator<Uint8Array, void, void> {
    yield* this.#encode(CHUNK_BYTES);
  }

  /** The last chunks. */
  *rest(): Generator<Uint8Array, void, void> {
    yield* this.#encode(1);
  }

  *#encode(least: number): Generator<Uint8Array, void, void> {
    let at = 0;
    while (this.#text.length - at >= least) {
      const { read, written } = utf8.encodeInto(this.#text.slice(at), this.#chunk);
      yield this.#chunk.subarray(0, written);
      at += read;
    }
    this.#text = this.#text.slice(at);
  }
}
