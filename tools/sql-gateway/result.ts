import type { Connection, FieldDef, Submittable } from 'pg';
import { Failure } from './failure.ts';
import type { Statement } from './request.ts';
import { RowWriter } from './row-writer.ts';

/**
 * A statement and its result as JSON. Submit it to a `pg` client with `client.query`. The client calls the methods `handle…` for
 * the server's messages, except that rows go to {@link row}.
 */
export class Result implements Submittable {
  readonly #statement: Statement;
  readonly #maxBytes: number;
  readonly #rows = new RowWriter();
  readonly #done = Promise.withResolvers<void>();
  #fields = '[]';
  #tag = '';

  constructor(statement: Statement, maxBytes: number) {
    this.#statement = statement;
    this.#maxBytes = maxBytes;
  }

  /** Rejects with a DatabaseError or a {@link Failure}. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** The JSON, once {@link done} has resolved. */
  chunks(): Buffer[] {
    const [command = '', ...numbers] = this.#tag.split(' ');
    const count = numbers[command === 'INSERT' ? 1 : 0] ?? ''; // INSERT has an OID before the count
    const rowCount = /^\d+$/.test(count) ? count : 'null';
    return [
      Buffer.from(`{"fields":${this.#fields},"rows":[`),
      ...this.#rows.chunks(),
      Buffer.from(`],"command":${JSON.stringify(command)},"rowCount":${rowCount},"rowAsArray":true}`),
    ];
  }

  /** Rejects {@link done}. */
  fail(reason: Failure): void {
    this.#done.reject(reason);
  }

  /** Takes the body of a DataRow message. */
  row(buffer: Buffer, start: number, end: number): void {
    if (this.#rows.length <= this.#maxBytes) this.#rows.add(buffer, start, end);
    else this.fail(new Failure(507, `response is too large (max is ${this.#maxBytes} bytes)`));
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
    this.#done.resolve();
  }

  handleError(error: Error): void {
    this.#done.reject(error);
  }

  #refuseCopy(): void {
    this.fail(new Failure(400, 'unexpected message from server'));
  }
}

function fieldOf({ name, dataTypeID, tableID, columnID, dataTypeSize, dataTypeModifier }: FieldDef): FieldDef {
  return { name, dataTypeID, tableID, columnID, dataTypeSize, dataTypeModifier, format: 'text' };
}
