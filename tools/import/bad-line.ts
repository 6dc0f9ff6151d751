import { UserError } from '../command.ts';
import { printableJson } from '../keys/printable.ts';

/** An error in one line of a file. The caller adds the file's name. */
export class BadLine extends UserError {
  override name = 'BadLine';
  readonly line: number;
  readonly reason: string;

  /**
   * @param line 1-based physical line on which the record begins, as an editor shows it
   * @param reason starts with the column's name if one column is at fault
   */
  constructor(line: number, reason: string) {
    super(`line ${line}: ${reason}`);
    this.line = line;
    this.reason = reason;
  }
}

/** A value for messages: quoted, on one line, truncated after 60 characters. */
export function shown(value: string | null = null): string {
  return printableJson(value && value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
