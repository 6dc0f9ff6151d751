import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { zip } from '../../src/formats/xlsx/zip.ts';
import { listZip } from '../support/xlsx.ts';

/**
 * A CompressionStream that takes any number of bytes in no time, and returns the compressed empty
 * text.
 */
class IdleCompressionStream {
  readonly writable: WritableStream<Uint8Array>;
  readonly readable: ReadableStream<Uint8Array>;

  constructor() {
    let output!: ReadableByteStreamController;
    this.readable = new ReadableStream({
      type: 'bytes',
      start: (controller) => void (output = controller),
    });
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
  const entries = [15, 17].map((chunks) => ({
    name: `${chunks}`,
    data: Array.from({ length: chunks }, () => chunk),
  }));
  const parts = [];
  for await (const part of zip(entries)) parts.push(Buffer.from(part));
  vi.unstubAllGlobals();
  const file = Buffer.concat(parts);

  const compressedSize = 2;
  const crc = 0;
  const [small, large] = listZip(file);
  expect(small).toEqual({
    name: '15',
    size: 15 * 2 ** 28,
    compressedSize,
    crc,
    offset: 0,
    version: 20,
  });
  // after the local header, the name, the data and the data descriptor
  const offset = 30 + 2 + compressedSize + 16;
  expect(large).toEqual({
    name: '17',
    size: 17 * 2 ** 28,
    compressedSize,
    crc,
    offset,
    version: 45,
  });
  // The larger data descriptor ends before the central directory.
  const descriptor = file.readUInt32LE(file.length - 22 + 16) - 24;
  expect(file.readUInt32LE(descriptor)).toBe(0x08074b50);
  expect(file.readBigUInt64LE(descriptor + 8)).toBe(BigInt(compressedSize));
  expect(file.readBigUInt64LE(descriptor + 16)).toBe(BigInt(17 * 2 ** 28));
});
