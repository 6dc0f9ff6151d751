import { cellsOf, recordsOf } from '../../shared/csv.ts';
import { size } from '../../shared/size.ts';
import { type Params, isAbort } from '../api.ts';
import type { DownloadRequest, Manifest } from '../downloads/manifest.ts';
import type { Storage } from '../downloads/storage.ts';
import {
  MissingRows,
  type Progress,
  type TransferOptions,
  transfer,
} from '../downloads/transfer.ts';
import { update as texts } from '../texts.ts';
import { checkContents, checkKeys, checkSafe } from './checks.ts';
import { Digest, type Digests, dayOf, hashOf } from './digest.ts';
import { type Contents, type Day, keysOf, readDays } from './file.ts';
import { Refused } from './refused.ts';

/**
 * How many times days are compared, and downloaded if they differ, while their responses keep
 * changing.
 */
const ROUNDS = 5;
const DAY_MS = 86_400_000;

/**
 * What the page knows of the file, and of the form versions whose shortcodes its digests depend on.
 */
interface Known {
  /** The digest of the form data. */
  readonly forms: string;
  readonly shortcodes: ReadonlyMap<string | null, string | null>;
  readonly contents: Contents;
  /** By day: the days of the file, or those that have replaced them. */
  readonly days: Map<string, Day>;
}

/** A file that is up to date. */
export interface Updated {
  readonly file: Blob;
  /** A sentence about what has been done. */
  readonly text: string;
}

/**
 * Brings a CSV file in the long layout up to date: replaces the days whose digests differ, and
 * removes those that no longer have responses.
 *
 * @param old refers to parts of it, so it must not change until the new one is saved
 * @param options.manifest its request is that of the whole file, in the long layout
 * @throws Refused; the errors of {@link transfer}
 */
export async function updateFile(
  old: File,
  { api, storage, manifest, ...options }: TransferOptions,
): Promise<Updated> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const { params } = manifest.request;
  const filters = params.filter(([name]) => name !== 'metadata');
  manifest.name = old.name; // until the new file is complete
  const keys = await keysOf(old).catch(unreadable);
  checkKeys(keys, params);
  let parts = 0;
  let downloaded = 0;

  const progress = (text: string, change: Partial<Progress> = {}) =>
    options.onProgress({
      bytes: 0,
      rows: 0,
      total: null,
      name: manifest.name,
      state: 'running',
      ...change,
      text,
    });

  async function compare(): Promise<Known> {
    // Firefox does not notice if a file changes after it has been read
    const copy = await storage.join(old);
    const [forms, shortcodes] = await formData();
    const contents = await readDays(copy, keys, shortcodes, (bytes) => {
      signal.throwIfAborted();
      progress(texts.reading(size(bytes), size(old.size)), { rows: bytes, total: old.size });
    }).catch(unreadable);
    checkContents(contents, params);
    return { forms, shortcodes, contents, days: new Map(contents.days) };
  }

  async function formData(): Promise<[digest: string, shortcodes: Known['shortcodes']]> {
    const survey = params.filter(([name]) => name === 'survey');
    const file = await fetch(
      { path: '/responses/form-data', params: survey, format: 'other' },
      () => {},
    );
    const digest = new Digest();
    const shortcodes = new Map<string | null, string | null>();
    const decoder = new TextDecoder();
    for await (const batch of recordsOf(file.stream())) {
      for (const record of batch) {
        const cells = cellsOf(decoder.decode(record));
        shortcodes.set(cells[0] ?? null, cells[1] ?? null);
        if (shortcodes.size > 1) digest.add(hashOf(cells)); // the first record is the header
      }
    }
    return [digest.sum(), shortcodes];
  }

  const digests = () => api.json<Digests>('/responses/digests', filters, signal);

  /**
   * Downloads a part of the new file into the storage. @param change what differs from the request
   * for the whole file
   */
  async function fetch(
    change: Partial<DownloadRequest>,
    onProgress: (now: Progress) => void,
  ): Promise<Blob> {
    const piece: Manifest = { ...manifest, request: { ...manifest.request, ...change }, after: '' };
    const first = parts;
    // The parts of all pieces are numbered together. Without a manifest, another page deletes them.
    const own: Storage = {
      ...storage,
      writePart: (number, part) => storage.writePart(first + number, part),
      writeManifest: async () => {},
    };
    await transfer({ api, storage: own, manifest: piece, signal, onProgress }).catch(
      (error: unknown) => {
        if (!(error instanceof MissingRows)) throw error; // the digests will differ
      },
    );
    parts += piece.parts;
    return new Blob((await storage.parts(parts)).slice(first));
  }

  /** Downloads successive days. */
  async function replace(
    run: Digests['digests'],
    { days, shortcodes }: Known,
    text: string,
  ): Promise<void> {
    const columns = keys.map((key): Params[number] => ['metadata', key]);
    const file = await fetch(
      { params: [...within(run, params), ...columns], format: 'csv' },
      ({ bytes, state }) => progress(`${text} · ${size(downloaded + bytes)}`, { state }),
    );
    downloaded += file.size;
    const replacements = (await readDays(file, keys, shortcodes, () => signal.throwIfAborted()))
      .days;
    for (const day of run) days.delete(dayOf(day));
    for (const [name, day] of replacements) days.set(name, { ...day, isExact: true });
  }

  try {
    let known: Known | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      const [remote, current]: [Digests, Known] = await Promise.all([
        digests(),
        known ?? compare(),
      ]);
      known = current;
      if (remote.forms !== known.forms) {
        known = undefined;
        continue;
      }
      checkSafe(known.contents, remote.digests);
      const { days } = known;
      const isHeld = (day: Digests['digests'][number]) => {
        const held = days.get(dayOf(day));
        return held?.digest === day.digest && held.isExact;
      };
      const runs = runsOf(remote.digests, isHeld);
      const missing = runs.flat().length;
      let done = 0;
      for (const run of runs) {
        await replace(run, known, texts.downloading(done + 1, done + run.length, missing));
        done += run.length;
      }
      if (remote.digests.every(isHeld)) return result(known, remote);
    }
    throw new Refused(texts.changing);
  } finally {
    stop.abort();
  }

  function result({ contents, days }: Known, remote: Digests): Updated {
    const file = new Blob(
      [contents.header, ...remote.digests.map((day) => days.get(dayOf(day))?.file ?? '')],
      {
        type: 'text/csv; charset=utf-8',
      },
    );
    const before = remote.digests.map((day) => ({ day, was: contents.days.get(dayOf(day)) }));
    const unchanged = before.filter(({ day, was }) => was?.digest === day.digest).length;
    const fresh = before.filter(({ was }) => !was).length;
    const text = texts.done({
      unchanged,
      changed: before.length - unchanged - fresh,
      fresh,
      gone: contents.days.size - before.length + fresh,
      responses: remote.digests.reduce((sum, { responses }) => sum + responses, 0),
      size: size(file.size),
      downloaded: size(downloaded),
    });
    return { file, text };
  }
}

/** Splits the days that are not held into runs of successive ones. */
function runsOf<T>(days: readonly T[], isHeld: (day: T) => boolean): T[][] {
  const runs: T[][] = [];
  let run: T[] = [];
  for (const day of days) {
    if (isHeld(day)) run = [];
    else if (run.push(day) === 1) runs.push(run);
  }
  return runs;
}

/** The filters, narrowed to successive days. */
function within(run: Digests['digests'], params: Params): Params {
  const filters = params.filter(([name]) => !['since', 'until', 'metadata'].includes(name));
  const [since = '', until = ''] = ['since', 'until'].map(
    (name) => params.find(([other]) => other === name)?.[1],
  );
  const start = run[0]?.start ?? '';
  const end = Date.parse(run.at(-1)?.start ?? '') + DAY_MS;
  const isLast = end > Date.parse('9999-12-31T00:00Z'); // the service takes no later time
  filters.push(['since', Date.parse(since) >= Date.parse(start) ? since : start]);
  if (Date.parse(until) < end || isLast) filters.push(['until', until]);
  else filters.push(['until', new Date(end).toISOString()]);
  return filters.filter(([, value]) => value !== '');
}

/**
 * Refuses a file that was moved, changed or deleted since it was chosen, or is no CSV file.
 * Browsers have several errors for that.
 */
function unreadable(error: unknown): never {
  if (error instanceof Refused || isAbort(error)) throw error;
  throw new Refused(error instanceof RangeError ? texts.notOurs : texts.unreadable);
}
