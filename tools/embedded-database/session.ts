import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { fatalError, message, MessageReader, OPENING } from './messages.ts';
import type { Turnstile } from './turnstile.ts';

/** The one backend that all connections share, one after another. */
export interface Backend {
  /** Runs whole messages and hands over the answer. Blocks the thread meanwhile. Rejects when the backend has died. */
  run(messages: Buffer): Promise<Buffer[]>;
}

/** What a client may send once it is in. Anything else would be fatal to the backend, not just to the connection. */
const PASSED_ON = 'QPBDESCHFdcf';

/**
 * Goes after every message that may start a COPY FROM STDIN, which PGlite cannot run: it would read on, find the end of its
 * input and die. So the COPY fails cleanly; Postgres ignores the message otherwise.
 */
const COPY_FAIL = message('f', 'the embedded database does not take COPY FROM STDIN\0');

/** Whatever state the connection before has left: in the middle of an exchange, in a transaction, with settings. */
const RESET = Buffer.concat([message('S'), message('Q', 'rollback\0'), message('Q', 'discard all\0')]);

/**
 * Serves one connection until it ends. It waits for its turn after the password, so that only a client that is really one
 * waits, and neither requests to cancel nor leases (connections that stay silent) do.
 */
export async function serve(socket: Socket, backend: Backend, turnstile: Turnstile, password: string): Promise<void> {
  const reader = new MessageReader(socket);
  const startup = await login(socket, reader, password);
  if (!startup) return;
  const leave = await turnstile.enter();
  try {
    if (!socket.destroyed) await converse(socket, reader, backend, startup);
  } finally {
    await backend.run(RESET).finally(leave);
  }
}

/** @returns the start-up message once the client has given the password, undefined when there is nothing (more) to do */
async function login(socket: Socket, reader: MessageReader, password: string): Promise<Buffer | undefined> {
  for (;;) {
    const opening = await reader.opening();
    if (opening?.code === OPENING.ssl || opening?.code === OPENING.gss) {
      socket.write('N');
      continue;
    }
    if (opening?.code !== OPENING.protocol3) return undefined; // PGlite has no way to cancel a query
    socket.write(message('R', Buffer.from([0, 0, 0, 3]))); // AuthenticationCleartextPassword
    const [answer] = (await reader.messages()) ?? [];
    if (!answer) return undefined;
    if (answer.toString('latin1', 0, 1) === 'p' && isPassword(answer.subarray(5, -1), password)) return opening.message;
    socket.end(fatalError('28P01', 'password authentication failed'));
    return undefined;
  }
}

function isPassword(given: Buffer, password: string): boolean {
  const wanted = Buffer.from(password);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

async function converse(socket: Socket, reader: MessageReader, backend: Backend, startup: Buffer): Promise<void> {
  await send(socket, await backend.run(startup));
  for (;;) {
    const messages = await reader.messages();
    if (!messages) return;
    const batch: Buffer[] = [];
    for (const each of messages) {
      const type = each.toString('latin1', 0, 1);
      if (!PASSED_ON.includes(type)) {
        await send(socket, await backend.run(Buffer.concat(batch)));
        if (type !== 'X') socket.end(fatalError('08P01', `invalid frontend message type "${type}"`));
        return;
      }
      batch.push(each);
      if (type === 'Q' || type === 'E') batch.push(COPY_FAIL);
    }
    await send(socket, await backend.run(Buffer.concat(batch)));
  }
}

/** Waits for a slow client, so that answers do not pile up. */
async function send(socket: Socket, answer: Buffer[]): Promise<void> {
  socket.cork();
  const flowing = answer.map((chunk) => socket.write(chunk)).every(Boolean);
  socket.uncork();
  if (flowing || socket.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once('drain', resolve).once('close', resolve);
  await promise;
  socket.off('drain', resolve).off('close', resolve);
}
