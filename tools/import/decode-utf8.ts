import { isUtf8 } from 'node:buffer';
import { BadLine } from './bad-line.ts';

const LF = 0x0a;

/**
 * Decodes a stream of bytes as UTF-8, without its byte order mark if it has one.
 *
 * Strict where Node's own decoders put U+FFFD in place of what they cannot read: an answer altered on the way in would
 * never be noticed. Also refuses NUL, which UTF-8 allows and Postgres cannot store.
 *
 * @throws BadLine for the line with the first byte that is not UTF-8, or that is NUL
 */
export async function* decodeUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let tail: Uint8Array = new Uint8Array();
  let line = 1;
  let first = true;
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([tail, chunk]);
    const end = bytes.length - incompleteTail(bytes);
    const whole = bytes.subarray(0, end);
    tail = bytes.subarray(end);
    line = check(whole, line);
    let text = whole.toString('utf8');
    if (first && text.startsWith('\uFEFF')) text = text.slice(1);
    first = first && text === '';
    if (text !== '') yield text;
  }
  if (tail.length > 0) throw notUtf8(line);
}

/** Returns the number of the line that the bytes end on. */
function check(bytes: Buffer, startLine: number): number {
  const hasNul = bytes.includes(0);
  if (isUtf8(bytes) && !hasNul) return startLine + lineFeeds(bytes);
  let line = startLine;
  for (let start = 0; ; line += 1) {
    const end = bytes.indexOf(LF, start);
    const part = bytes.subarray(start, end === -1 ? bytes.length : end); // a line feed is never part of a longer character
    if (!isUtf8(part)) throw notUtf8(line);
    if (part.includes(0)) throw new BadLine(line, 'has a NUL character, which Postgres cannot store');
    start = end + 1;
  }
}

function notUtf8(line: number): BadLine {
  return new BadLine(line, 'is not valid UTF-8: save the file as UTF-8 and try again');
}

function lineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}

/** How many bytes at the end (0 to 3) begin a character whose rest is still to come. RFC 3629, section 3. */
function incompleteTail(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (isContinuation) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
