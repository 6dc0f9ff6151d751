import type { Receiver } from './connection.ts';
import { Failure } from './failures.ts';
import type { JsonWriter } from './json-writer.ts';
import { toJson } from './parsed-value.ts';
import type { Column } from './wire.ts';

/** How a result is to be written. */
export interface ResultFormat {
  /** Rows as arrays, not as objects. */
  arrayMode: boolean;
  /** Values as the strings that Postgres sends, not parsed by their type. */
  rawText: boolean;
  /** Length of the whole response from which no further row is added. */
  maxBytes: number;
}

const COMMA = Buffer.from(',');
const NULL = Buffer.from('null');

/** Writes one statement's result in the form and the order of Neon's proxy, row by row as it comes. */
export class ResultJson implements Receiver {
  readonly #json: JsonWriter;
  readonly #format: ResultFormat;
  #types: number[] = [];
  /** What comes before each value of a row. */
  #before: Buffer[] = [];
  readonly #afterRow: Buffer;
  #hasRows = false;
  #tag = '';

  constructor(json: JsonWriter, format: ResultFormat) {
    this.#json = json;
    this.#format = format;
    this.#afterRow = Buffer.from(format.arrayMode ? ']' : '}');
    json.raw('{"fields":[');
  }

  columns(columns: Column[]): void {
    const { arrayMode } = this.#format;
    this.#types = columns.map(({ dataTypeID }) => dataTypeID);
    this.#before = columns.map(({ name }, index) => {
      const mark = index > 0 ? ',' : arrayMode ? '[' : '{';
      return Buffer.from(arrayMode ? mark : `${mark}${JSON.stringify(name)}:`);
    });
    this.#json.raw(columns.map(fieldJson).join(','));
  }

  row(buffer: Buffer, start: number): void {
    const json = this.#json;
    if (this.#hasRows) json.bytes(COMMA);
    else this.#startRows();
    // Neon checks before each row, so that a single huge one gets through.
    if (json.length > this.#format.maxBytes) {
      throw new Failure(507, `response is too large (max is ${this.#format.maxBytes} bytes)`);
    }
    let at = start + 2;
    for (const [index, before] of this.#before.entries()) {
      json.bytes(before);
      const length = buffer.readInt32BE(at);
      at += 4;
      if (length < 0) {
        json.bytes(NULL);
        continue;
      }
      if (this.#format.rawText) json.string(buffer, at, at + length);
      else json.raw(toJson(buffer.toString('utf8', at, at + length), this.#types[index] ?? 0));
      at += length;
    }
    json.bytes(this.#afterRow);
  }

  complete(tag: string): void {
    this.#tag = tag;
  }

  /** Writes the rest, once the statement has succeeded. */
  finish(): void {
    if (!this.#hasRows) this.#startRows();
    const [command = '', ...numbers] = this.#tag.split(' ');
    const count = numbers[command === 'INSERT' ? 1 : 0] ?? ''; // an INSERT names an OID first
    const rowCount = /^\d+$/.test(count) ? count : 'null';
    const { arrayMode } = this.#format;
    this.#json.raw(`],"command":${JSON.stringify(command)},"rowCount":${rowCount},"rowAsArray":${arrayMode}}`);
  }

  #startRows(): void {
    this.#hasRows = true;
    this.#json.raw('],"rows":[');
  }
}

function fieldJson({ name, dataTypeID, tableID, columnID, dataTypeSize, dataTypeModifier }: Column): string {
  return JSON.stringify({ name, dataTypeID, tableID, columnID, dataTypeSize, dataTypeModifier, format: 'text' });
}
