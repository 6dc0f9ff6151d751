/** Milliseconds between two reports: on a terminal, and in a log. */
const EVERY_ON_TERMINAL = 200;
const EVERY_IN_LOG = 10_000;

/**
 * Reports what is being done if it takes long: on a terminal in one line that is rewritten,
 * elsewhere in new lines.
 */
export function startProgress(stream: NodeJS.WriteStream) {
  let text: (() => string) | undefined;
  const report = () => text && stream.write(stream.isTTY ? `\r${text()}\u001B[K` : `${text()}\n`);
  const timer = setInterval(report, stream.isTTY ? EVERY_ON_TERMINAL : EVERY_IN_LOG).unref();
  return {
    /** @param current called for each report, which may show the time */
    update(current: () => string): void {
      text = current;
    },
    /**
     * Removes the line from the terminal, so that another can be written. The next update shows it
     * again.
     */
    clear(): void {
      if (stream.isTTY) stream.write('\r\u001B[K');
      text = undefined;
    },
    [Symbol.dispose](): void {
      clearInterval(timer);
      this.clear();
    },
  };
}
