import type { ImportProgress } from './load-file.ts';

/** Milliseconds between two reports: on a terminal, and in a log. */
const EVERY_ON_TERMINAL = 100;
const EVERY_IN_LOG = 5_000;

/** Reports an import's progress: on a terminal in one line that is rewritten, elsewhere in a new line every few seconds. */
export class ProgressReport implements Disposable {
  readonly #stream: NodeJS.WriteStream;
  readonly #timer: NodeJS.Timeout;
  #progress: ImportProgress | undefined;
  #phaseStart = 0;
  #isShown = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#timer = setInterval(() => this.#report(), stream.isTTY ? EVERY_ON_TERMINAL : EVERY_IN_LOG);
  }

  update(progress: ImportProgress): void {
    if (progress.phase !== this.#progress?.phase) this.#phaseStart = performance.now();
    this.#progress = progress;
  }

  /** Writes a line that stays. */
  note(text: string): void {
    this.#clear();
    this.#stream.write(`${text}\n`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#clear();
  }

  #report(): void {
    if (!this.#progress) return;
    const text = format(this.#progress, (performance.now() - this.#phaseStart) / 1000);
    this.#stream.write(this.#stream.isTTY ? `\r${text}\u001B[K` : `${text}\n`);
    this.#isShown = this.#stream.isTTY;
  }

  /** Removes the line from the terminal. */
  #clear(): void {
    if (this.#isShown) this.#stream.write('\r\u001B[K');
    this.#isShown = false;
  }
}

function format({ phase, rows, bytesRead, size }: ImportProgress, seconds: number): string {
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  const total = size === null ? '' : ` of ${megabytes(size)}`;
  const read = phase.startsWith('reading') ? `, ${megabytes(bytesRead)}${total} MB` : '';
  return `${phase}: ${rows.toLocaleString('en-US')} rows${read}, ${Math.round(seconds)} s`;
}
