import { type Api, ApiError, type Params, pause } from '../api.ts';
import { type DownloadRequest, type Manifest, NOTHING } from './manifest.ts';
import { createRecords } from './records.ts';
import type { Storage } from './storage.ts';

/**
 * A part is written when it has this many bytes or, so that closing the page loses little, is this
 * many milliseconds old.
 */
const PART_BYTES = 8_000_000;
const PART_MS = 5000;
/** The number of times a file that cannot be continued is restarted automatically. */
const RESTARTS = 3;
const MOST_SECONDS = 30;
/** Seconds of waiting without progress after which the download stops, and the user decides. */
const GIVE_UP_SECONDS = 600;
/** When its database fails, the service retries for up to a minute and sends nothing meanwhile. */
const SILENCE_MS = 120_000;

/** The state of a download. */
export interface Progress extends Readonly<Pick<Manifest, 'bytes' | 'rows' | 'total'>> {
  /** The file's name; empty until it is known. */
  readonly name: string;
  /** The last three are reasons to wait before the next request. */
  readonly state: 'running' | 'lost' | 'restarting' | 'busy';
}

export interface TransferOptions {
  readonly api: Api;
  readonly storage: Storage;
  /** It is changed in place, and stored with every part. */
  readonly manifest: Manifest;
  /** Stops the download; what has arrived is stored. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** The file ended properly, but has fewer rows than were counted. */
export class MissingRows extends Error {}

/**
 * Downloads a file into its storage, and continues after an interruption.
 *
 * @throws ApiError or TypeError if the service refuses, or cannot be reached for a long time;
 * {@link MissingRows}; DOMException
 *   if the parts cannot be stored, such as QuotaExceededError; the signal's reason
 */
export async function transfer({
  api,
  storage,
  manifest,
  signal,
  onProgress,
}: TransferOptions): Promise<void> {
  const { request } = manifest;
  let failures = 0;
  let restarts = 0;
  let waited = 0;

  const progress = (state: Progress['state'], bytes = 0, rows = 0) =>
    onProgress({
      bytes: manifest.bytes + bytes,
      rows: manifest.rows + rows,
      total: manifest.total,
      name: manifest.name,
      state,
    });

  async function receive(): Promise<void> {
    if (manifest.after === '') Object.assign(manifest, NOTHING);
    progress('running');
    const stall = new AbortController();
    let timer = 0;
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(
        () => stall.abort(new TypeError('nothing has arrived for a long time')),
        SILENCE_MS,
      );
    };
    watch();
    const records = createRecords(request.format, manifest.columns);
    const before = manifest.rows;
    let pieces: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    let since = Date.now();
    const flush = async () => {
      if (size === 0) return;
      const part = new Blob(pieces);
      pieces = [];
      size = 0;
      since = Date.now();
      await storage.writePart(manifest.parts, part);
      manifest.parts++;
      manifest.bytes += part.size;
      manifest.rows = before + records.count();
      Object.assign(manifest, {
        columns: records.columns(),
        after: records.cursor(),
        time: Date.now(),
      });
      await storage.writeManifest(manifest);
    };
    try {
      const params: Params = [...request.params];
      if (canContinue(request)) params.push(['count', 'true']);
      if (manifest.after !== '') params.push(['after', manifest.after]);
      const response = await api.open(
        request.path,
        params,
        AbortSignal.any([signal, stall.signal]),
      );
      if (manifest.after === '') {
        manifest.name = request.name;
        manifest.type = response.headers.get('Content-Type') ?? '';
      }
      const count = response.headers.get('X-Total-Count');
      if (canContinue(request)) {
        if (count === null) throw new TypeError('a response without a count, of a proxy perhaps');
        manifest.total = before + Number(count);
      }
      const reader = response.body?.getReader();
      for (;;) {
        const { done = true, value } = (await reader?.read()) ?? {};
        if (done || !value) break;
        watch();
        for (const piece of records.push(value)) {
          pieces.push(piece);
          size += piece.length;
        }
        if (request.format === 'other' || records.count() > 0) failures = waited = 0;
        progress('running', size, before + records.count() - manifest.rows);
        if (size >= PART_BYTES || Date.now() - since >= PART_MS) await flush();
      }
      if (!records.isWhole()) throw new TypeError('the response ended within a record');
    } finally {
      clearTimeout(timer);
      stall.abort(); // if the response is still arriving
      await flush();
    }
  }

  for (;;) {
    try {
      await receive();
      break;
    } catch (error) {
      signal.throwIfAborted();
      const seconds = retryAfter(error) ?? Math.min(2 ** failures++, MOST_SECONDS);
      // the name arrives with the response
      const startsAgain = !canContinue(request) && manifest.name !== '';
      if (startsAgain) restarts++;
      if (!isPassing(error) || restarts > RESTARTS || (waited += seconds) > GIVE_UP_SECONDS)
        throw error;
      progress(retryAfter(error) ? 'busy' : startsAgain ? 'restarting' : 'lost');
      await untilOnline(seconds * 1000, signal);
    }
  }
  const isMissing = manifest.total !== null && manifest.rows < manifest.total;
  Object.assign(manifest, isMissing ? { after: '' } : { isComplete: true, time: 0 });
  await storage.writeManifest(manifest);
  if (isMissing) throw new MissingRows();
}

/** Whether its rows can be counted, and it can be continued with `after`. */
export const canContinue = ({ format }: DownloadRequest): boolean =>
  format === 'csv' || format === 'ndjson';

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
