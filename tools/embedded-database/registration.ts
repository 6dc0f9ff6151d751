import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { UserError } from '../command.ts';

/**
 * What `<dataDir>/embedded.json` says: which process has the embedded database open, and where it answers. The URL is null
 * while it starts and while it closes. Written for other processes of this project only.
 */
interface Registration {
  pid: number;
  url: string | null;
}

/** This process's hold on a data directory. Calls take effect in their order, one after another, awaited or not. */
export interface Claim {
  /** Tells the others where the database answers, or (null) that it is about to close. */
  publish(url: string | null): Promise<void>;
  release(): Promise<void>;
}

/** Opening takes a second or two, the first time some more. */
const PATIENCE_MS = 60_000;

/** A process that has just stopped listening says so at once. */
const SILENCE_MS = 3000;

/**
 * Joins the process that has the data directory's database open, or else makes this process the only one that may open it.
 * Whoever died without a word is replaced.
 *
 * @param signal gives up waiting for it
 * @returns where the database answers, with a lease: a connection which, while it is open, keeps that process from closing
 * the database ; or the claim
 * @throws UserError when a process holds on to the directory, but does not answer
 */
export async function joinOrClaim(
  dataDir: string,
  signal?: AbortSignal,
): Promise<{ url: string; lease: Socket } | Claim> {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, 'embedded.json');
  let seen = '';
  let since = 0;
  for (;;) {
    const claim = await tryToClaim(file);
    if (claim) return claim;
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text !== seen) [seen, since] = [text, Date.now()];
    const { pid, url } = parse(text);
    const alive = isAlive(pid);
    const lease = url !== null && alive ? await tryToConnect(url) : undefined;
    if (url !== null && lease) return { url, lease };
    // Where nothing listens at the published URL, the living process is another one, which got the dead one's id.
    const isStale = !alive || (url !== null && Date.now() - since > SILENCE_MS);
    if (isStale) await removeIfStill(file, text);
    else if (Date.now() - since > PATIENCE_MS) throw new UserError(busy(dataDir, pid));
    else await setTimeout(50, undefined, signal && { signal });
  }
}

function busy(dataDir: string, pid: number): string {
  return `${dataDir} is in use by process ${pid}, which does not answer. End it, or choose another DATA_DIR.`;
}

async function tryToClaim(file: string): Promise<Claim | undefined> {
  const draft = await write(file, { pid: process.pid, url: null });
  try {
    await link(draft, file); // fails where there is one, and is never seen half written
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    throw error;
  } finally {
    await rm(draft);
  }
  let last = Promise.resolve();
  const inTurn = (step: () => Promise<void>) => (last = last.then(step, step));
  return {
    publish: (url) =>
      inTurn(async () => {
        await rename(await write(file, { pid: process.pid, url }), file);
      }),
    release: () => inTurn(() => rm(file, { force: true })),
  };
}

async function write(file: string, registration: Registration): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${JSON.stringify(registration)}\n`, { mode: 0o600 }); // the URL has the password
  return draft;
}

function parse(text: string): Registration {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'pid' in value && 'url' in value) {
      const { pid, url } = value;
      if (typeof pid === 'number' && (url === null || typeof url === 'string')) return { pid, url };
    }
  } catch {
    // written by nobody we know
  }
  return { pid: 0, url: null };
}

function isAlive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function tryToConnect(url: string): Promise<Socket | undefined> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const { promise, resolve } = Promise.withResolvers<Socket | undefined>();
  socket.on('connect', () => resolve(socket.unref())); // a lease must not keep its holder from ending
  socket.on('error', () => resolve(undefined));
  return promise;
}

/** Of several processes that find the same dead one's file, one removes it; none removes the file of a living one. */
async function removeIfStill(file: string, text: string): Promise<void> {
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await rename(file, aside);
    if ((await readFile(aside, 'utf8')) !== text) await link(aside, file);
    await rm(aside);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  }
}
