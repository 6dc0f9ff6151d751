import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { zip } from '../../src/formats/xlsx/zip.ts';
import { type RunningWorker, startWorker } from '../support/worker.ts';
import { listZip, readZip } from '../support/xlsx.ts';

const CHUNK_BYTES = 64 * 1024;

describe('in workerd', () => {
  let worker: RunningWorker;
  beforeAll(async () => {
    worker = await startWorker('test/support/zip-worker.ts', {});
  });
  afterAll(async () => worker[Symbol.asyncDispose]());
  const run = async (query: string) => fetch(new URL(`?${query}`, worker.url));

  test('a file holds its entry', async () => {
    const file = Buffer.from(await (await run('chunks=20')).arrayBuffer());
    const data = readZip(file).get('entry') as Buffer;
    const chunks = Array.from({ length: 20 }, () => data.subarray(0, CHUNK_BYTES));
    expect(data.equals(Buffer.concat(chunks))).toBe(true);
  });

  test('is read no faster than it is consumed', async () => {
    const response = await run('chunks=200');
    await response.arrayBuffer();
    expect(Number(response.headers.get('Test-Ahead'))).toBeLessThan(8 * CHUNK_BYTES);
  });

  test('a failure to read an entry fails the file', async () => {
    expect(await (await run('chunks=100&fail=60')).json()).toEqual({ error: 'no more chunks', hasEnded: true });
    expect(worker.log()).toBe(''); // no unhandled rejection
  });

  test('a reader that leaves ends the reading of the entry', async () => {
    expect(await (await run('chunks=100&leave=3')).json()).toEqual({ hasEnded: true });
    expect(worker.log()).toBe('');
  });
});

/** A CompressionStream that takes any number of bytes in no time, and returns the compressed empty text. */
class IdleCompressionStream {
  readonly writable: WritableStream<Uint8Array>;
  readonly readable: ReadableStream<Uint8Array>;

  constructor() {
    let output!: ReadableByteStreamController;
    this.readable = new ReadableStream({ type: 'bytes', start: (controller) => void (output = controller) });
    this.writable = new WritableStream({
      close() {
        output.enqueue(new Uint8Array(gzipSync('')));
        output.close();
        output.byobRequest?.respond(0);
      },
    });
  }
}

test('an entry of more than 4 GiB is ZIP64, and others are not', async () => {
  vi.stubGlobal('CompressionStream', IdleCompressionStream);
  const chunk = new Uint8Array(2 ** 28);
  const entries = [15, 17].map((chunks) => ({ name: `${chunks}`, data: Array.from({ length: chunks }, () => chunk) }));
  const parts = [];
  for await (const part of zip(entries)) parts.push(Buffer.from(part));
  vi.unstubAllGlobals();
  const file = Buffer.concat(parts);

  const compressedSize = 2;
  const crc = 0;
  const [small, large] = listZip(file);
  expect(small).toEqual({ name: '15', size: 15 * 2 ** 28, compressedSize, crc, offset: 0, version: 20 });
  const offset = 30 + 2 + compressedSize + 16; // after the local header, the name, the data and the data descriptor
  expect(large).toEqual({ name: '17', size: 17 * 2 ** 28, compressedSize, crc, offset, version: 45 });
  // The larger data descriptor ends before the central directory.
  const descriptor = file.readUInt32LE(file.length - 22 + 16) - 24;
  expect(file.readUInt32LE(descriptor)).toBe(0x08074b50);
  expect(file.readBigUInt64LE(descriptor + 8)).toBe(BigInt(compressedSize));
  expect(file.readBigUInt64LE(descriptor + 16)).toBe(BigInt(17 * 2 ** 28));
});
