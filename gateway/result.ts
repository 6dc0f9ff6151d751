import { once } from 'node:events';
import { type Client, type FieldDef, Query, type QueryResult } from 'pg';
import { Failure } from './failure.ts';
import { type Batch, type Limits, MAX_BYTES, type Statement } from './request.ts';

/**
 * Rows are encoded when their JSON is about this long together: one by one takes twice the time.
 */
const CHUNK_LENGTH = 64 * 1024;

/** By how much data is longer as JSON, at most: a control character takes up to six bytes. */
function escapes(data: Buffer): number {
  let controls = 0;
  // `reduce` takes eight times as long
  for (let i = 0; i < data.length; i++) if ((data[i] as number) < 0x20) controls++;
  return 5 * controls;
}

/**
 * A larger response takes as much of the shared memory as the largest. The pages that the service
 * asks for are smaller.
 */
const SMALL_BYTES = 8 * 1024 * 1024;

/**
 * What `pg` keeps in memory before a statement's first row, and from one row to the next: a row of
 * up to 1 GB, or an error. It is counted as JSON.
 */
const MAX_ROW_BYTES = 80 * 1024 * 1024;

/** The properties of a field, in the order of Neon's proxy. */
const FIELD = [
  'name',
  'dataTypeID',
  'tableID',
  'columnID',
  'dataTypeSize',
  'dataTypeModifier',
  'format',
];

/** Values as Postgres prints them. */
type Row = (string | null)[];

/** As Neon. */
const copyRefused = new Failure(
  400,
  'error parsing response from server: invalid message length: expected buffer to be empty',
);

/** The JSON of a response, as far as it is written. */
export class Body {
  readonly parts: Buffer[] = [];
  bytes = 0;
  /** What Postgres has sent. Of a long row, its length as JSON. */
  received = 0;
  /** Whether it waits for the shared memory, or has it. */
  hasMemory = false;

  write(json: string): this {
    const part = Buffer.from(json);
    this.parts.push(part);
    this.bytes += part.length;
    return this;
  }
}

/**
 * Runs the statements of a request. @throws Failure, DatabaseError, or another Error if the
 * connection is lost or the client left
 */
export async function responseTo(
  { statements, begin }: Batch,
  client: Client,
  limits: Limits,
): Promise<Body> {
  const body = new Body();
  if (begin) await client.query(begin);
  body.write(begin ? '{"results":[' : '');
  for (const [index, statement] of statements.entries()) {
    if (index > 0) body.write(',');
    await run(statement, client, body, limits);
  }

  if (begin) await client.query('COMMIT');
  return body.write(begin ? ']}' : '');
}

/** Runs a statement with the extended query protocol, and writes its result. */
async function run(
  { query: text, params: values }: Statement,
  client: Client,
  body: Body,
  { maxResponseBytes, memory, signal }: Limits,
): Promise<void> {
  const tooLarge = new Failure(507, `response is too large (max is ${maxResponseBytes} bytes)`);
  if (body.bytes > maxResponseBytes) throw tooLarge;

  const config = { text, values, queryMode: 'extended' };
  const query = new Query(config);
  const refuse = (reason: unknown) => void query.emit('error', reason);
  query.on('error', () => {}); // more may follow the first

  const socket = client.connection.stream;
  const refuseSize = () => {
    socket.pause();
    refuse(tooLarge);
  };

  let sinceRow = 0;
  const receive = (data: Buffer) => {
    // of a short row, the JSON is written before the next rows are received
    const bytes = data.length + (sinceRow > CHUNK_LENGTH ? escapes(data) : 0);
    body.received += bytes;
    sinceRow += bytes;
    if (!body.hasMemory && Math.max(body.received, body.bytes) > SMALL_BYTES) {
      body.hasMemory = true;
      socket.pause();
      memory(signal, MAX_BYTES).then(() => socket.resume(), refuse);
    }

    if (sinceRow > MAX_ROW_BYTES) refuseSize();
  };

  let rows: Row[] = [];
  let length = 0;
  let before = '{"fields":[],"rows":[';
  const flush = () => {
    body.write(before).write(JSON.stringify(rows).slice(1, -1));
    before = ',';
    rows = [];
    length = 0;
  };

  Object.assign(query, {
    handleRowDescription: ({ fields }: { fields: FieldDef[] }) => {
      before = `{"fields":${JSON.stringify(fields, FIELD)},"rows":[`;
    },
    // Its texts stay as Postgres prints them: `pg` would copy the row.
    handleDataRow: (message: { fields: Row; length: number }) => {
      sinceRow = 0;
      if (length >= CHUNK_LENGTH) flush();
      if (body.bytes > maxResponseBytes) refuseSize();
      rows.push(message.fields);
      length += message.length;
    },
    // Without this, `pg` would end the COPY with an error of the server.
    handleCopyInResponse: () => refuse(copyRefused),
  });

  socket.on('data', receive);
  client.query(query);
  const end = once(query, 'end', { signal }).finally(() => socket.off('data', receive));
  const [{ command, rowCount }] = (await end) as [QueryResult];
  if (command === 'COPY') throw copyRefused;
  flush();
  body.write(
    `],${JSON.stringify({ command: command ?? '', rowCount, rowAsArray: true }).slice(1)}`,
  );
}
