import { type Chunks, Output } from '../../encode/bytes.ts';
import { suppressUnhandledRejection } from '../../unhandled-rejection.ts';

/*
 * ZIP files, written as a stream: APPNOTE 6.3.10,
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 *
 * The sizes of an entry are known only at its end, so they follow its data in a data descriptor,
 * and are repeated in the central directory. As in Go's archive/zip, ZIP64 is used only where a
 * number requires it, and not in local headers.
 */

/** An entry of a ZIP file. */
export interface ZipEntry {
  /** ASCII. */
  readonly name: string;
  /** A chunk may reuse the memory of the previous one. */
  readonly data: Chunks;
}

/** An entry in the central directory; sizes and offset in bytes. */
interface ListedEntry {
  readonly name: string;
  readonly crc: number[];
  readonly compressedSize: number;
  readonly size: number;
  readonly offset: number;
}

/** Large enough that the overhead of a write is negligible. */
const CHUNK_BYTES = 64 * 1024;

/** Each write leaves native memory to the garbage collector, so writes should be large. */
const WRITE_BYTES = 256 * 1024;
/** A read takes the output of a write, to which deflate adds little if it cannot compress it. */
const READ_BYTES = WRITE_BYTES + 64 * 1024;

/**
 * A gzip stream starts with a header without optional fields, and ends with CRC-32 and size (RFC
 * 1952 section 2.3).
 */
const GZIP_HEADER_BYTES = 10;
const GZIP_TRAILER_BYTES = 8;
const CRC_BYTES = 4;

const MAX_UINT32 = 0xffff_ffff;

/** A number in little-endian order (section 4.4.1.1). */
const field = (bytes: number) => (value: number) =>
  Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** i) % 256);
const u16 = field(2);
const u32 = field(4);
const u64 = field(8);
const ascii = (text: string) => Array.from(text, (char) => char.charCodeAt(0));

/** Version needed to extract (section 4.4.3.2): 2.0 for deflate, 4.5 for ZIP64. */
const VERSION = u16(20);
const ZIP64_VERSION = u16(45);
/**
 * A data descriptor (section 4.4.4), deflate (section 4.4.5), and the earliest time and date, 1
 * January 1980.
 */
const FLAGS_METHOD_TIME = [...u16(1 << 3), ...u16(8), ...u16(0), ...u16((1 << 5) | 1)];

/**
 * Writes a ZIP file. Entries are read and compressed while the file is consumed.
 *
 * @returns chunks of 64 KiB or more, except the last one; each is valid until the next is requested
 */
export async function* zip(entries: readonly ZipEntry[]) {
  const output = new Output();
  const add = (fields: readonly number[][]) => {
    const bytes = Uint8Array.from(fields.flat());
    output.reserve(bytes.length);
    output.write(bytes);
  };
  const directory: number[][] = [];
  let sent = 0;
  const position = () => sent + output.length;

  for (const { name, data } of entries) {
    const offset = position();
    add(localHeader(name));
    const start = position();
    let size = 0;
    let header = GZIP_HEADER_BYTES;
    const compressed = gzip(data, (bytes) => {
      size += bytes;
    });

    for await (const chunk of compressed) {
      const skipped = Math.min(header, chunk.length);
      header -= skipped;
      output.reserve(chunk.length);
      output.write(chunk, skipped);

      const ready = output.length - GZIP_TRAILER_BYTES; // the rest may be the trailer
      if (ready < CHUNK_BYTES) continue;

      yield output.bytes.subarray(0, ready);
      sent += ready;
      output.bytes.copyWithin(0, ready, output.length);
      output.length = GZIP_TRAILER_BYTES;
    }

    output.length -= GZIP_TRAILER_BYTES;
    const crc = [...output.bytes.subarray(output.length, output.length + CRC_BYTES)];
    const entry = { name, crc, compressedSize: position() - start, size, offset };
    add(dataDescriptor(entry));
    directory.push(...centralHeader(entry));
  }

  const start = position();
  add(directory);
  add(endOfDirectory(entries.length, start, position() - start));
  yield output.written;
}

/**
 * Compresses a stream.
 *
 * CompressionStream has no backpressure in workerd: a write is complete when its output has been
 * stored. So a read is always pending, and the output of a write is read before the next one. A
 * BYOB reader is needed, because others get 4 KiB at a time.
 *
 * @param count receives the size of each chunk
 */
async function* gzip(data: Chunks, count: (bytes: number) => void) {
  const { readable, writable } = new CompressionStream('gzip');
  const reader = readable.getReader({ mode: 'byob' });
  const writer = writable.getWriter();
  const read = (memory: ArrayBuffer) =>
    suppressUnhandledRejection(reader.read(new Uint8Array(memory)));
  let next = read(new ArrayBuffer(READ_BYTES));

  try {
    for await (const chunk of data) {
      for (let at = 0; at < chunk.length; at += WRITE_BYTES) {
        const written = chunk.subarray(at, at + WRITE_BYTES);
        const consumed = suppressUnhandledRejection(writer.write(written));
        for (;;) {
          const part = await Promise.race([next, consumed]);
          if (!part || part.done) break;
          yield part.value;
          next = read(part.value.buffer);
        }
      }
      count(chunk.length);
    }

    const closed = suppressUnhandledRejection(writer.close());
    let part = await next;
    while (!part.done) {
      yield part.value;
      part = await read(part.value.buffer);
    }
    await closed;
  } finally {
    // Unless it was read to its end, nobody will consume the rest.
    await Promise.allSettled([writer.abort(), reader.cancel()]);
  }
}

/** Section 4.3.7. CRC and sizes are in the data descriptor. */
const localHeader = (name: string): number[][] => [
  ...[u32(0x04034b50), VERSION, FLAGS_METHOD_TIME, u32(0), u32(0), u32(0)],
  ...[u16(name.length), u16(0), ascii(name)],
];

/** Section 4.3.9. */
function dataDescriptor({ crc, compressedSize, size }: ListedEntry): number[][] {
  const length = Math.max(compressedSize, size) > MAX_UINT32 ? u64 : u32;
  return [u32(0x08074b50), crc, length(compressedSize), length(size)];
}

/** Section 4.3.12. With the ZIP64 extra field (section 4.5.3), all its numbers are there. */
function centralHeader({ name, crc, compressedSize, size, offset }: ListedEntry): number[][] {
  const isZip64 = Math.max(compressedSize, size, offset) > MAX_UINT32;
  const version = isZip64 ? ZIP64_VERSION : VERSION;
  const numbers = [size, compressedSize, offset].flatMap(u64);
  const extra = isZip64 ? [u16(1), u16(numbers.length), numbers].flat() : [];
  const inHeader = (value: number) => u32(isZip64 ? MAX_UINT32 : value);
  return [
    ...[u32(0x02014b50), version, version, FLAGS_METHOD_TIME, crc],
    ...[inHeader(compressedSize), inHeader(size), u16(name.length), u16(extra.length)],
    ...[u16(0), u16(0), u16(0), u32(0)], // comment, disk, attributes
    ...[inHeader(offset), ascii(name), extra],
  ];
}

/** Section 4.3.16, after the ZIP64 records of sections 4.3.14 and 4.3.15 if it needs them. */
function endOfDirectory(entries: number, start: number, size: number): number[][] {
  const isZip64 = start > MAX_UINT32;
  const zip64 = [
    ...[u32(0x06064b50), u64(44), ZIP64_VERSION, ZIP64_VERSION, u32(0), u32(0)],
    ...[u64(entries), u64(entries), u64(size), u64(start)],
    ...[u32(0x07064b50), u32(0), u64(start + size), u32(1)],
  ];
  return [
    ...(isZip64 ? zip64 : []),
    ...[u32(0x06054b50), u16(0), u16(0), u16(entries), u16(entries)],
    ...[u32(size), u32(isZip64 ? MAX_UINT32 : start), u16(0)],
  ];
}
