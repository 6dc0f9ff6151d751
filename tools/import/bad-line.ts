/** What is wrong with one line of a file. Whoever knows the file's name turns it into a message for the user. */
export class BadLine extends Error {
  override name = 'BadLine';
  readonly line: number;

  /**
   * @param line 1-based physical line on which the record starts: what an editor shows, what `sed -n 7p` prints
   * @param reason what is wrong with it, beginning with the column's name where it is one column's fault
   */
  constructor(line: number, reason: string, options?: ErrorOptions) {
    super(`line ${line}: ${reason}`, options);
    this.line = line;
  }
}

/** A value as it may be shown in a message: in quotes, on one line, not more than about 60 characters of it. */
export function shown(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
