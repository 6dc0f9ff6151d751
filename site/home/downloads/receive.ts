import type { Api, Params } from '../api.ts';
import type { DownloadRequest, Manifest } from './manifest.ts';
import { type Records, createRecords } from './records.ts';
import type { PartStorage } from './storage.ts';

/**
 * A part is written when it has this many bytes or, so that closing the page loses little, is this
 * many milliseconds old.
 */
const PART_BYTES = 8_000_000;
const PART_MS = 5000;
/** When its database fails, the service retries for up to a minute and sends nothing meanwhile. */
const SILENCE_MS = 120_000;

export interface ReceiveOptions {
  readonly api: Api;
  readonly storage: PartStorage;
  /** It is changed in place, and stored with every part. */
  readonly manifest: Manifest;
  /** Stops the download; what has arrived is stored. */
  readonly signal: AbortSignal;
}

/** What has arrived and is not stored yet. */
export interface Pending {
  readonly bytes: number;
  readonly rows: number;
}

/** Whether its rows can be counted, and it can be continued with `after`. */
export const canContinue = ({ format }: DownloadRequest): boolean =>
  format === 'csv' || format === 'ndjson';

/**
 * Requests a file, or the rest of one of which a part is stored, and stores what arrives, also if
 * the transfer breaks.
 *
 * @param onArrival called after each chunk
 * @throws as `transfer`, after one request
 */
export async function receive(
  { api, storage, manifest, signal }: ReceiveOptions,
  onArrival: (pending: Pending) => void,
): Promise<void> {
  const { request } = manifest;
  const records = createRecords(request.format, manifest.columns);
  const parts = createParts(storage, manifest, records);
  const silence = createSilence();

  try {
    const either = AbortSignal.any([signal, silence.signal]);
    const response = await api.open(request.path, paramsOf(manifest), either);
    readHeaders(response, manifest);

    const reader = response.body?.getReader();
    for (;;) {
      const { done = true, value } = (await reader?.read()) ?? {};
      if (done || !value) break;

      silence.restart();
      parts.push(value);
      onArrival(parts.pending());
      if (parts.isDue()) await parts.write();
    }
    if (!records.isWhole()) throw new TypeError('the response ended within a record');
  } finally {
    silence.end();
    await parts.write();
  }
}

function paramsOf({ request, after }: Manifest): Params {
  const params = [...request.params];
  if (canContinue(request)) params.push(['count', 'true']);
  if (after !== '') params.push(['after', after]);
  return params;
}

function readHeaders({ headers }: Response, manifest: Manifest): void {
  if (manifest.after === '') {
    manifest.name = manifest.request.name;
    manifest.type = headers.get('Content-Type') ?? '';
  }
  if (!canContinue(manifest.request)) return;

  const count = headers.get('X-Total-Count');
  if (count === null) throw new TypeError('a response without a count, of a proxy perhaps');
  manifest.total = manifest.rows + Number(count);
}

/** Makes parts of the records that arrive, and stores them with the manifest. */
function createParts(storage: PartStorage, manifest: Manifest, records: Records) {
  const rowsBefore = manifest.rows;
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  let since = Date.now();

  return {
    push(chunk: Uint8Array<ArrayBuffer>): void {
      for (const piece of records.push(chunk)) {
        pieces.push(piece);
        size += piece.length;
      }
    },

    pending: (): Pending => ({
      bytes: size,
      rows: rowsBefore + records.count() - manifest.rows,
    }),

    isDue: () => size >= PART_BYTES || Date.now() - since >= PART_MS,

    async write(): Promise<void> {
      if (size === 0) return;
      const part = new Blob(pieces);
      pieces = [];
      size = 0;
      since = Date.now();

      await storage.writePart(manifest.parts, part);
      manifest.parts++;
      manifest.bytes += part.size;
      manifest.rows = rowsBefore + records.count();
      manifest.columns = records.columns();
      manifest.after = records.cursor();
      manifest.time = Date.now();
      await storage.writeManifest(manifest);
    },
  };
}

/** A signal that aborts when nothing has arrived for a long time. */
function createSilence() {
  const controller = new AbortController();
  const abort = () => controller.abort(new TypeError('nothing has arrived for a long time'));
  let timer = setTimeout(abort, SILENCE_MS);

  return {
    signal: controller.signal,
    restart(): void {
      clearTimeout(timer);
      timer = setTimeout(abort, SILENCE_MS);
    },
    /** Also ends a response that is still arriving. */
    end(): void {
      clearTimeout(timer);
      controller.abort();
    },
  };
}
