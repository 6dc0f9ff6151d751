/** Milliseconds between two reports: on a terminal, and in a log. */
const EVERY_ON_TERMINAL = 200;
const EVERY_IN_LOG = 10_000;

/** Reports what is being done if it takes long: on a terminal in one line that is rewritten, elsewhere in new lines. */
export class Progress implements Disposable {
  readonly #stream: NodeJS.WriteStream;
  readonly #timer: NodeJS.Timeout;
  #text: (() => string) | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#timer = setInterval(() => this.#report(), stream.isTTY ? EVERY_ON_TERMINAL : EVERY_IN_LOG);
    this.#timer.unref();
  }

  /** @param text called for each report, which may show the time */
  update(text: () => string): void {
    this.#text = text;
  }

  /** Removes the line from the terminal, so that another can be written. The next update shows it again. */
  clear(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001B[K');
    this.#text = undefined;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.clear();
  }

  #report(): void {
    if (!this.#text) return;
    this.#stream.write(this.#stream.isTTY ? `\r${this.#text()}\u001B[K` : `${this.#text()}\n`);
  }
}
