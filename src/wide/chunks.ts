/** Large enough that the overhead of a write is negligible, and small compared to a page. */
const CHUNK_BYTES = 128 * 1024;

const utf8 = new TextEncoder();

/** Collects text and returns it as UTF-8 in chunks of 128 KiB. Each chunk reuses the memory of the previous one. */
export class Chunks {
  readonly #chunk = new Uint8Array(CHUNK_BYTES);
  #text = '';

  add(text: string): void {
    this.#text += text;
  }

  /** Whether there is a full chunk. */
  get isFull(): boolean {
    return this.#text.length >= CHUNK_BYTES; // a character has at least one byte
  }

  /** All full chunks. */
  *full(): Generator<Uint8Array, void, void> {
    yield* this.#encode(CHUNK_BYTES);
  }

  /** The remaining chunks. */
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
