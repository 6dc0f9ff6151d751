import { once } from 'node:events';
import { type FieldDef, type PoolClient, Query, type QueryArrayResult } from 'pg';
import { Failure } from './failure.ts';
import type { Statement } from './request.ts';

/** Rows are encoded when their JSON is about this long together: one by one takes twice the time. */
const CHUNK_LENGTH = 64 * 1024;

/** Values stay as Postgres prints them. */
const types = { getTypeParser: () => (text: string) => text };

/**
 * Runs a statement with the extended query protocol.
 *
 * @param options.maxBytes a longer result fails with 507
 * @param options.signal stops waiting for the result
 * @returns the result as JSON
 * @throws Failure or DatabaseError, or another Error if the connection is lost or the signal is aborted
 */
export async function resultOf(
  client: PoolClient,
  { text, parameters }: Statement,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<Buffer> {
  const config = { text, values: parameters, types, rowMode: 'array', queryMode: 'extended' } as const;
  const query = new Query<(string | null)[]>(config);
  query.on('error', () => {}); // more may follow the first
  // Without this, `pg` would end the COPY with an error of the server.
  Object.assign(query, { handleCopyInResponse: () => query.emit('error', copyRefused()) });
  const rows: Buffer[] = [];
  let bytes = 0;
  let pending: (string | null)[][] = [];
  let pendingLength = 0;
  const encode = () => {
    const json = Buffer.from(`${rows.length > 0 ? ',' : ''}${JSON.stringify(pending).slice(1, -1)}`);
    rows.push(json);
    bytes += json.length;
    pending = [];
    pendingLength = 0;
  };
  query.on('row', (row) => {
    if (bytes > maxBytes) {
      query.emit('error', new Failure(507, `response is too large (max is ${maxBytes} bytes)`));
      return;
    }
    pending.push(row);
    pendingLength += '[],'.length;
    for (const cell of row) pendingLength += (cell ?? 'null').length + '"",'.length;
    if (pendingLength >= CHUNK_LENGTH) encode();
  });
  client.query(query);
  const [{ fields, command, rowCount }] = (await once(query, 'end', { signal })) as [QueryArrayResult];
  if (command === 'COPY') throw copyRefused();
  if (pending.length > 0) encode();
  const described = JSON.stringify(fields.map(fieldOf));
  const rest = JSON.stringify({ command: command ?? '', rowCount, rowAsArray: true });
  return Buffer.concat([Buffer.from(`{"fields":${described},"rows":[`), ...rows, Buffer.from(`],${rest.slice(1)}`)]);
}

const copyRefused = () =>
  new Failure(400, 'error parsing response from server: invalid message length: expected buffer to be empty');

function fieldOf({ name, dataTypeID, tableID, columnID, dataTypeSize, dataTypeModifier }: FieldDef): FieldDef {
  return { name, dataTypeID, tableID, columnID, dataTypeSize, dataTypeModifier, format: 'text' };
}
