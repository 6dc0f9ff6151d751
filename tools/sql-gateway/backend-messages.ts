/** Takes a message: its type, and where in the buffer its body is. The bytes are only valid during the call. */
type Take = (type: number, buffer: Buffer, start: number, end: number) => void;

/** Bytes of a message before its body: type and length. */
const HEAD = 5;

/** Cuts a stream of bytes into the messages of a Postgres server, without copying those that come in one piece. */
export function messageSplitter(take: Take): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let size = 0;
  let wanted = HEAD;
  return (chunk) => {
    held.push(chunk);
    size += chunk.length;
    if (size < wanted) return;
    const buffer = held.length === 1 ? chunk : Buffer.concat(held, size);
    let at = 0;
    wanted = HEAD;
    while (buffer.length - at >= HEAD) {
      const length = 1 + buffer.readInt32BE(at + 1);
      if (buffer.length - at < length) {
        wanted = length;
        break;
      }
      take(buffer.readUInt8(at), buffer, at + HEAD, at + length);
      at += length;
    }
    const rest = buffer.subarray(at);
    held = rest.length > 0 ? [rest] : [];
    size = rest.length;
  };
}
