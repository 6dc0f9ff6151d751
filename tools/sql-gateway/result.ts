import type { Connection, FieldDef, Submittable } from 'pg';
import { Failure } from './failure.ts';
import type { Statement } from './request.ts';

/** A statement and its result as JSON. Submit it to a `pg` client with `client.query`. The client calls the methods `handle…`. */
export class Result implements Submittable {
  readonly #statement: Statement;
  readonly #maxBytes: number;
  readonly #rows: Buffer[] = [];
  #rowsLength = 0;
  readonly #settle = Promise.withResolvers<void>();
  /** Rejects with a DatabaseError or a {@link Failure}. */
  readonly done = this.#settle.promise;
  #fields = '[]';
  #tag = '';

  constructor(statement: Statement, maxBytes: number) {
    this.#statement = statement;
    this.#maxBytes = maxBytes;
  }

  /** The JSON, once {@link done} has resolved. */
  json(): Buffer {
    const [command = '', ...numbers] = this.#tag.split(' ');
    const count = numbers[command === 'INSERT' ? 1 : 0] ?? ''; // INSERT has an OID before the count
    const rowCount = /^\d+$/.test(count) ? count : 'null';
    return Buffer.concat([
      Buffer.from(`{"fields":${this.#fields},"rows":[`),
      ...this.#rows,
      Buffer.from(`],"command":${JSON.stringify(command)},"rowCount":${rowCount},"rowAsArray":true}`),
    ]);
  }

  /** Rejects {@link done}. */
  fail(reason: Failure): void {
    this.#settle.reject(reason);
  }

  /** Sends Parse, Bind, Describe, Execute and Sync: the extended query protocol. */
  submit(connection: Connection): void {
    const { text, parameters } = this.#statement;
    connection.stream.cork();
    connection.parse({ name: '', text, types: [] }, true);
    connection.bind({ values: parameters }, true);
    connection.describe({ type: 'P' }, true);
    connection.execute(null, true);
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: FieldDef[] }): void {
    this.#fields = JSON.stringify(fields.map(fieldOf));
  }

  /** @param row.fields the values as text */
  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (this.#rowsLength > this.#maxBytes) {
      this.fail(new Failure(507, `response is too large (max is ${this.#maxBytes} bytes)`));
      return;
    }
    const separator = this.#rowsLength === 0 ? '' : ',';
    const row = Buffer.from(separator + JSON.stringify(fields));
    this.#rows.push(row);
    this.#rowsLength += row.length;
  }

  handleCommandComplete({ text }: { text: string }): void {
    if (text.startsWith('COPY')) this.#refuseCopy();
    this.#tag = text;
  }

  handleCopyInResponse(): void {
    this.#refuseCopy();
  }

  /** The data of `COPY … TO STDOUT`, which is refused at its end. */
  handleCopyData(): void {}

  handleEmptyQuery(): void {}

  handleReadyForQuery(): void {
    this.#settle.resolve();
  }

  handleError(error: Error): void {
    this.#settle.reject(error);
  }

  #refuseCopy(): void {
    this.fail(
      new Failure(400, 'error parsing response from server: invalid message length: expected buffer to be empty'),
    );
  }
}

function fieldOf({ name, dataTypeID, tableID, columnID, dataTypeSize, dataTypeModifier }: FieldDef): FieldDef {
  return { name, dataTypeID, tableID, columnID, dataTypeSize, dataTypeModifier, format: 'text' };
}
