/** Bytes from which on a native copy is worth its call and its view, which is garbage. Measured: the time is flat from 32 to 512. */
const LONG_RUN = 256;

/** Bytes, written from the start on. Who writes has reserved room before: what is behind the end would be lost. */
export class Output {
  bytes = new Uint8Array(0);
  length = 0;

  /** Makes room for so many bytes more. */
  reserve(size: number): void {
    const needed = this.length + size;
    if (needed <= this.bytes.length) return;
    this.bytes = new Uint8Array(this.bytes.buffer.transfer(Math.max(needed, Math.ceil(1.25 * this.bytes.length))));
  }

  write(from: Uint8Array, start = 0, end = from.length): void {
    if (end - start > LONG_RUN) {
      this.bytes.set(from.subarray(start, end), this.length);
      this.length += end - start;
    } else {
      const { bytes } = this;
      let { length } = this;
      for (let at = start; at < end; at++) bytes[length++] = from[at] as number;
      this.length = length;
    }
  }

  writeByte(byte: number): void {
    this.bytes[this.length++] = byte;
  }
}
