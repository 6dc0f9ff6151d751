// The client's side of Postgres' wire protocol, as far as a server has to understand it to pass it on.
// https://www.postgresql.org/docs/current/protocol-message-formats.html
import type { Socket } from 'node:net';

/** Postgres itself refuses longer messages. */
const MAX_MESSAGE_BYTES = 0x3fffffff;

/** What may open a connection: requests for encryption, a request to cancel, or the start-up message. */
export const OPENING = { ssl: 80877103, gss: 80877104, cancel: 80877102, protocol3: 196608 } as const;

/** The messages of a connection, whole, in order, whatever the pieces in which they arrive. */
export class MessageReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #held: Buffer[] = [];
  #length = 0;

  constructor(socket: Socket) {
    this.#chunks = socket.iterator({ destroyOnReturn: false });
  }

  /** The first message, or the next when that asked for encryption: it has no type, only a length. Undefined at the end. */
  async opening(): Promise<{ code: number; message: Buffer } | undefined> {
    if (!(await this.#fill(8))) return undefined;
    const head = this.#joined();
    const length = head.readInt32BE(0);
    if (length < 8 || length > 10_000 || !(await this.#fill(length))) return undefined;
    return { code: head.readInt32BE(4), message: this.#take(length) };
  }

  /** Waits for at least one message and returns all that are there. Undefined at the end, or when it makes no sense. */
  async messages(): Promise<Buffer[] | undefined> {
    if (!(await this.#fill(5))) return undefined;
    const first = this.#joined().readInt32BE(1);
    if (first < 4 || first > MAX_MESSAGE_BYTES || !(await this.#fill(1 + first))) return undefined;
    const messages: Buffer[] = [];
    while (this.#length >= 5) {
      const length = 1 + this.#joined().readInt32BE(1);
      if (length < 5 || length > this.#length) break;
      messages.push(this.#take(length));
    }
    return messages;
  }

  /** Reads on until there are `length` bytes. False when the connection ends before. */
  async #fill(length: number): Promise<boolean> {
    while (this.#length < length) {
      const { value, done } = await this.#chunks.next();
      if (done === true) return false;
      this.#held.push(value);
      this.#length += value.length;
    }
    return true;
  }

  #joined(): Buffer {
    const [first] = this.#held;
    if (first && this.#held.length === 1) return first;
    const all = Buffer.concat(this.#held);
    this.#held = [all];
    return all;
  }

  #take(length: number): Buffer {
    const all = this.#joined();
    this.#held = [all.subarray(length)];
    this.#length -= length;
    return all.subarray(0, length);
  }
}

/** A message of the type given by its letter. */
export function message(type: string, body: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeInt32BE(bytes.length + 4, 1);
  return Buffer.concat([head, bytes]);
}

/** An ErrorResponse of severity FATAL. */
export function fatalError(sqlState: string, text: string): Buffer {
  return message('E', `SFATAL\0VFATAL\0C${sqlState}\0M${text}\0\0`);
}
