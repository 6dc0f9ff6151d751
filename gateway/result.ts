import { once } from 'node:events';
import { type Client, type FieldDef, Query, type QueryArrayResult, types } from 'pg';
import { socketOf } from './connections.ts';
import { Failure } from './failure.ts';
import type { Batch, Statement } from './request.ts';
import type { Semaphore } from './semaphore.ts';

/** Rows are encoded when their JSON is about this long together: one by one takes twice the time. */
const CHUNK_LENGTH = 64 * 1024;

/** A larger response takes one of the turns for large responses. The pages that the service asks for are smaller. */
const SMALL_RESPONSE_BYTES = 8 * 1024 * 1024;

export interface ResponseLimits {
  /** A longer response fails with 507. This is checked before each row, so that a single row can be longer, as in Neon's proxy. */
  readonly maxBytes: number;
  /** How many larger responses can be in memory. Until the turn comes, Postgres waits. */
  readonly turns: Semaphore;
  /** Aborted when the response has ended, or its client has disconnected. */
  readonly signal: AbortSignal;
}

/**
 * Runs a request's statements, with the extended query protocol.
 *
 * @returns the body of the response, as parts
 * @throws Failure or DatabaseError, or another Error if the connection is lost or the signal is aborted
 */
export async function responseOf(client: Client, { statements, begin, isRaw }: Batch, limits: ResponseLimits) {
  const body = new Body(client, limits);
  if (begin !== undefined) {
    await client.query(begin);
    body.write('{"results":[');
  }
  for (const [index, statement] of statements.entries()) {
    if (index > 0) body.write(',');
    await run(client, statement, isRaw, body, limits.signal);
  }
  if (begin !== undefined) {
    await client.query('COMMIT');
    body.write(']}');
  }
  return body.parts;
}

/** The body of a response. While it waits for a turn, it stops reading from Postgres. */
class Body {
  readonly parts: Buffer[] = [];
  readonly #client: Client;
  readonly #limits: ResponseLimits;
  #bytes = 0;
  #turn: Promise<void> | undefined;

  constructor(client: Client, limits: ResponseLimits) {
    this.#client = client;
    this.#limits = limits;
  }

  write(json: string): void {
    const part = Buffer.from(json);
    this.parts.push(part);
    this.#bytes += part.length;
  }

  /** @param refuse is called with what ends the statement */
  beforeRow(refuse: (reason: unknown) => void): void {
    const { maxBytes } = this.#limits;
    if (this.#bytes > maxBytes) refuse(new Failure(507, `response is too large (max is ${maxBytes} bytes)`));
    if (this.#bytes > SMALL_RESPONSE_BYTES) this.#turn ??= this.#takeTurn().catch(refuse);
  }

  async #takeTurn(): Promise<void> {
    const { turns, signal } = this.#limits;
    const socket = socketOf(this.#client).pause();
    const release = await turns.acquire(signal);
    signal.addEventListener('abort', release);
    socket.resume();
  }
}

/** Runs a statement and writes its result. */
async function run(
  client: Client,
  { query: text, params, arrayMode }: Statement,
  isRaw: boolean,
  body: Body,
  signal: AbortSignal,
): Promise<void> {
  const parsers = { getTypeParser: (type: number) => (isRaw ? asText : parserOf(type)) };
  const config = { text, values: params, types: parsers, rowMode: 'array', queryMode: 'extended' } as const;
  const query = new Query<unknown[]>(config);
  const refuse = (reason: unknown) => void query.emit('error', reason);
  query.on('error', () => {}); // more may follow the first
  // Without this, `pg` would end the COPY with an error of the server.
  Object.assign(query, { handleCopyInResponse: () => refuse(copyRefused()) });

  let isFirst = true;
  let rows: unknown[] = [];
  let length = 0;
  const flush = (fields: FieldDef[]) => {
    const json = JSON.stringify(rows).slice(1, -1);
    if (isFirst) body.write(`{"fields":${JSON.stringify(fields.map(fieldOf))},"rows":[${json}`);
    else if (json) body.write(`,${json}`);
    isFirst = false;
    rows = [];
    length = 0;
  };
  query.on('row', (row, result) => {
    const { fields } = result as QueryArrayResult;
    body.beforeRow(refuse);
    rows.push(arrayMode ? row : Object.fromEntries(fields.map(({ name }, index) => [name, row[index]])));
    for (const value of row)
      length += (typeof value === 'string' ? value : JSON.stringify(value)).length + '"",'.length;
    if (length >= CHUNK_LENGTH) flush(fields);
  });
  client.query(query);
  const [{ fields, command, rowCount }] = (await once(query, 'end', { signal })) as [QueryArrayResult];
  if (command === 'COPY') throw copyRefused();
  flush(fields);
  body.write(`],${JSON.stringify({ command: command ?? '', rowCount, rowAsArray: arrayMode }).slice(1)}`);
}

const copyRefused = () =>
  new Failure(400, 'error parsing response from server: invalid message length: expected buffer to be empty');

function fieldOf({ name, dataTypeID, tableID, columnID, dataTypeSize, dataTypeModifier }: FieldDef): FieldDef {
  return { name, dataTypeID, tableID, columnID, dataTypeSize, dataTypeModifier, format: 'text' };
}

const asText = (text: string) => text;

/** bool, int2, int4, json, jsonb, and arrays of bool, int2, int4, text, varchar, json, jsonb */
const PARSED = new Set([16, 21, 23, 114, 3802, 1000, 1005, 1007, 1009, 1015, 199, 3807]);
/** float4 and float8, whose `NaN` and `Infinity` are no JSON. */
const FLOATS = new Set([700, 701]);

/** How a value becomes JSON if the client did not ask for raw text. Other types, as int8 and numeric, stay text. */
function parserOf(type: number): (text: string) => unknown {
  if (FLOATS.has(type)) return (text) => (Number.isFinite(Number(text)) ? Number(text) : text);
  return PARSED.has(type) ? (types.getTypeParser(type) as (text: string) => unknown) : asText;
}
