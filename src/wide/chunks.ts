/** Large enough that the cost of a write does not show, small beside the pages. */
const CHUNK_CHARS = 64 * 1024;

const utf8 = new TextEncoder();

/** Collects text, and gives it out as UTF-8 in chunks of at least 64 KiB and at most three times that, but for the last. */
export class Chunks {
  #text = '';

  add(text: string): void {
    this.#text += text;
  }

  get isFull(): boolean {
    return this.#text.length >= CHUNK_CHARS;
  }

  /** All that is full. */
  *full(): Generator<Uint8Array, void, void> {
    let at = 0;
    while (this.#text.length - at >= CHUNK_CHARS) {
      // Not between the halves of a surrogate pair: each alone is no character.
      const end = at + CHUNK_CHARS - (isHighSurrogate(this.#text.charCodeAt(at + CHUNK_CHARS - 1)) ? 1 : 0);
      yield utf8.encode(this.#text.slice(at, end));
      at = end;
    }
    this.#text = this.#text.slice(at);
  }

  rest(): Uint8Array {
    const rest = utf8.encode(this.#text);
    this.#text = '';
    return rest;
  }
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit < 0xdc00;
