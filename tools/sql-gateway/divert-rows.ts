import type { Client, PoolClient } from 'pg';

/** Takes the body of a DataRow message, from `start` to `end` of `buffer`. The bytes are valid only during the call. */
export type TakeRow = (buffer: Buffer, start: number, end: number) => void;

/** Message type (1 byte) and length (4 bytes, which count themselves). */
const HEADER_BYTES = 5;
const DATA_ROW = 'D'.charCodeAt(0);

/**
 * Diverts the rows that the server sends to a connected client, and leaves other messages to `pg`, which would turn every value
 * of every row into a string.
 */
export function divertRows(client: PoolClient, takeRow: TakeRow): void {
  const { stream } = (client as unknown as Client).connection; // missing from the type of a pool's client
  const parse = stream.listeners('data') as ((bytes: Buffer) => void)[]; // of `pg`
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let neededBytes = HEADER_BYTES;

  stream.removeAllListeners('data');
  stream.on('data', (chunk: Buffer) => {
    pending.push(chunk);
    pendingBytes += chunk.length;
    if (pendingBytes < neededBytes) return;
    const buffer = pending.length === 1 ? chunk : Buffer.concat(pending, pendingBytes);
    let at = 0;
    neededBytes = HEADER_BYTES;
    while (buffer.length - at >= HEADER_BYTES) {
      const end = at + 1 + buffer.readInt32BE(at + 1);
      if (end > buffer.length) {
        neededBytes = end - at;
        break;
      }
      if (buffer[at] === DATA_ROW) takeRow(buffer, at + HEADER_BYTES, end);
      else for (const listener of parse) listener(buffer.subarray(at, end));
      at = end;
    }
    pending = at < buffer.length ? [buffer.subarray(at)] : [];
    pendingBytes = buffer.length - at;
  });
}
