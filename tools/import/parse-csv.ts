import { BadLine } from './bad-line.ts';

/** One record: its fields, null where Postgres reads null (nothing at all, not even quotes). */
export interface CsvRecord {
  /** 1-based physical line on which it starts; fields may hold line breaks. */
  line: number;
  fields: (string | null)[];
}

/**
 * Longest record taken, in UTF-16 units. The service hands out at most 64 MB a page, so no export has a longer one: it
 * is a quote left open, which would otherwise take the rest of the file into memory.
 */
const MAX_RECORD = 64 * 1024 * 1024;

/**
 * Parses CSV as Postgres reads it with `COPY … (FORMAT csv)`: comma, double quote, quotes doubled within quotes, an
 * empty field without quotes is null. Lines end in LF or CRLF; the last one may lack its end.
 *
 * By hand, because records are reported by their line and must keep quoted-or-not for every field: csv-parse 7 counts
 * a CRLF within quotes as two lines, takes a NUL for the end of a quoted field, and is three times slower when asked
 * whether a field was quoted.
 *
 * Source of the dialect: https://www.postgresql.org/docs/18/sql-copy.html#SQL-COPY-FILE-FORMATS, and
 * `CopyReadLineText` and `CopyReadAttributesCSV` in src/backend/commands/copyfromparse.c.
 *
 * @param texts the file's text in pieces, cut anywhere
 * @returns the records in pieces, as they become complete, the header among them
 * @throws BadLine for a quote that is never closed, text outside of a field's quotes, or a CR outside of quotes
 */
export async function* parseCsv(texts: AsyncIterable<string>): AsyncGenerator<CsvRecord[], void> {
  const parser = new CsvParser();
  for await (const text of texts) {
    const records = parser.push(text);
    if (records.length > 0) yield records;
  }
  const last = parser.end();
  if (last) yield [last];
}

/** Where in a record the next character falls. */
type Place = 'field start' | 'unquoted' | 'quoted' | 'after quote' | 'after cr';

class CsvParser {
  #place: Place = 'field start';
  #line = 1;
  #record: CsvRecord = { line: 1, fields: [] };
  #field = '';
  #hasQuotes = false;
  #recordSize = 0;

  push(text: string): CsvRecord[] {
    const records: CsvRecord[] = [];
    for (let at = 0; at < text.length;) {
      const end = this.#place === 'quoted' ? endOfQuoted(text, at) : endOfUnquoted(text, at);
      if (end > at) this.#takeText(text.slice(at, end));
      if (end < text.length) this.#takeMark(text.charAt(end), records);
      at = end + 1;
    }
    return records;
  }

  /** Returns the last record, if the file ends without a line end. */
  end(): CsvRecord | null {
    if (this.#place === 'quoted') throw this.#bad('a quote is opened and never closed');
    if (this.#place === 'after cr') throw this.#bad(loneCarriageReturn);
    if (this.#place === 'field start' && this.#record.fields.length === 0) return null;
    return this.#endRecord();
  }

  #takeText(text: string): void {
    if (this.#place === 'after quote')
      throw this.#bad('there is text after a closing quote (a quote within quotes is written "")');
    if (this.#place === 'after cr') throw this.#bad(loneCarriageReturn);
    if (this.#place === 'quoted') this.#line += lineFeeds(text);
    else this.#place = 'unquoted';
    this.#field += text;
    this.#recordSize += text.length;
    if (this.#recordSize > MAX_RECORD) throw this.#bad('is longer than 64 MiB: is a quote left open?');
  }

  /** Takes a quote, comma, CR or LF; within quotes it is a quote. */
  #takeMark(mark: string, records: CsvRecord[]): void {
    if (mark === '"') this.#takeQuote();
    else if (mark === '\n') records.push(this.#endRecord());
    else if (this.#place === 'after cr') throw this.#bad(loneCarriageReturn);
    else if (mark === '\r') this.#place = 'after cr';
    else this.#endField();
  }

  #takeQuote(): void {
    switch (this.#place) {
      case 'field start':
        this.#hasQuotes = true;
        this.#place = 'quoted';
        return;
      case 'quoted':
        this.#place = 'after quote';
        return;
      case 'after quote':
        this.#place = 'quoted';
        this.#takeText('"');
        return;
      case 'unquoted':
        throw this.#bad('there is a quote within a field that does not begin with one');
      case 'after cr':
        throw this.#bad(loneCarriageReturn);
    }
  }

  #endField(): void {
    this.#record.fields.push(this.#field === '' && !this.#hasQuotes ? null : this.#field);
    this.#field = '';
    this.#hasQuotes = false;
    this.#place = 'field start';
  }

  #endRecord(): CsvRecord {
    this.#endField();
    const record = this.#record;
    this.#line += 1;
    this.#record = { line: this.#line, fields: [] };
    this.#recordSize = 0;
    return record;
  }

  #bad(reason: string): BadLine {
    return new BadLine(this.#record.line, reason);
  }
}

const loneCarriageReturn = 'there is a carriage return outside of quotes that is not part of a line end';

function endOfQuoted(text: string, from: number): number {
  const quote = text.indexOf('"', from);
  return quote === -1 ? text.length : quote;
}

function endOfUnquoted(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x2c /* , */ || code === 0x0a || code === 0x0d || code === 0x22 /* " */) return at;
  }
  return text.length;
}

function lineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
