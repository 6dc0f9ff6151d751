import { ApiError, pause } from '../api.ts';
import { type Manifest, NOTHING } from './manifest.ts';
import { type Pending, type ReceiveOptions, canContinue, receive } from './receive.ts';

/** The number of times a file that cannot be continued is restarted automatically. */
const RESTARTS = 3;
const MAX_SECONDS = 30;
/** Seconds of waiting without progress after which the download stops, and the user decides. */
const GIVE_UP_SECONDS = 600;

/** The state of a download. */
export interface Progress extends Readonly<Pick<Manifest, 'bytes' | 'rows' | 'total'>> {
  /** The file's name; empty until it is known. */
  readonly name: string;
  /** The last three are reasons to wait before the next request. */
  readonly state: 'running' | 'lost' | 'restarting' | 'busy';
}

interface TransferOptions extends ReceiveOptions {
  readonly onProgress: (progress: Progress) => void;
}

/** The file ended properly, but has fewer rows than were counted. */
export class MissingRows extends Error {}

/**
 * Downloads a file into its storage, and continues after an interruption.
 *
 * @throws ApiError or TypeError if the service refuses, or cannot be reached for a long time;
 * {@link MissingRows}; DOMException if the parts cannot be stored, such as QuotaExceededError; the
 * signal's reason
 */
export async function transfer({ onProgress, ...options }: TransferOptions): Promise<void> {
  const { storage, manifest, signal } = options;
  const { request } = manifest;
  let failures = 0;
  let restarts = 0;
  let waited = 0;

  const progress = (state: Progress['state'], pending: Pending = { bytes: 0, rows: 0 }) =>
    onProgress({
      bytes: manifest.bytes + pending.bytes,
      rows: manifest.rows + pending.rows,
      total: manifest.total,
      name: manifest.name,
      state,
    });

  const onArrival = (pending: Pending) => {
    if (request.format === 'other' || pending.rows > 0) {
      failures = 0;
      waited = 0;
    }
    progress('running', pending);
  };

  /** Waits before the next request, or throws the error of the last one. */
  async function wait(error: unknown): Promise<void> {
    const asked = retryAfter(error);
    const seconds = asked ?? Math.min(2 ** failures, MAX_SECONDS);
    if (asked === undefined) failures++;
    waited += seconds;

    // the name arrives with the response
    const startsAgain = !canContinue(request) && manifest.name !== '';
    if (startsAgain) restarts++;
    if (!isPassing(error) || restarts > RESTARTS || waited > GIVE_UP_SECONDS) throw error;

    if (asked !== undefined) progress('busy');
    else progress(startsAgain ? 'restarting' : 'lost');
    await untilOnline(seconds * 1000, signal);
  }

  let isReceived = false;
  while (!isReceived) {
    if (manifest.after === '') Object.assign(manifest, NOTHING);
    progress('running');
    try {
      await receive(options, onArrival);
      isReceived = true;
    } catch (error) {
      signal.throwIfAborted();
      await wait(error);
    }
  }

  const isMissing = manifest.total !== null && manifest.rows < manifest.total;
  if (isMissing) manifest.after = '';
  else Object.assign(manifest, { isComplete: true, time: 0 });
  await storage.writeManifest(manifest);
  if (isMissing) throw new MissingRows();
}

/** The seconds of `Retry-After`. */
const retryAfter = (error: unknown) =>
  error instanceof ApiError && error.retryAfter > 0 ? error.retryAfter : undefined;

/** Whether the same request may succeed later. Errors of gateways have no `X-Error-Code`. */
const isPassing = (error: unknown) =>
  error instanceof TypeError ||
  (error instanceof ApiError &&
    (error.retryAfter > 0 || (error.status >= 500 && error.code === '')));

/** Waits, but no longer than until the browser is online again. */
const untilOnline = (milliseconds: number, signal: AbortSignal) =>
  Promise.race([
    pause(milliseconds, signal),
    new Promise((resolve) => addEventListener('online', resolve, { once: true, signal })),
  ]);
