import { type Api, explain } from '../api.ts';
import { dayIn } from '../dates.ts';
import { keepLastFile } from '../last-files.ts';
import { TIME_ZONE, answers, downloads as texts } from '../texts.ts';
import { amount, createCard } from './card.ts';
import type { Manifest } from './manifest.ts';
import type { Storage } from './storage.ts';
import { MissingRows, type Progress, canContinue, transfer } from './transfer.ts';
import { size } from '../size.ts';

const RENDER_MS = 250;

export interface DownloadOptions {
  readonly api: Api;
  readonly storage: Storage;
  readonly manifest: Manifest;
  /** Has screen readers read a text. */
  readonly announce: (text: string) => void;
  /** Called when the user removes it. */
  readonly onRemove: () => void;
}

/** A download, and its card. */
export interface Download {
  readonly element: HTMLElement;
  /** Resolves when it ends, however it does. */
  readonly run: () => Promise<void>;
  /** Offers to continue it. */
  readonly offer: () => void;
  /** Stops it. It can be continued later, or in another tab. */
  readonly stop: () => Promise<void>;
  /** Stops it, and deletes what has arrived. */
  readonly remove: () => Promise<void>;
}

export function createDownload({
  api,
  storage,
  manifest,
  announce,
  onRemove,
}: DownloadOptions): Download {
  const { survey } = manifest.request;
  const controller = new AbortController();
  const started = Date.now();
  let running: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;
  const card = createCard({
    survey,
    about: manifest.request.about,
    note: storage.isKept ? '' : texts.inMemory,
    act: () => {
      if (manifest.isComplete) void handOver().catch(fail);
      else void run();
    },
    remove,
    announce,
  });
  function remove(): void {
    onRemove();
    void end(storage.remove);
  }
  const again = () => (manifest.after === '' ? texts.again : texts.continue);

  /** Shows why the download does not run, and what to do. */
  function fail(error: unknown): void {
    let reason = explain(error);
    if (error instanceof MissingRows) reason = texts.missing(manifest.rows, manifest.total ?? 0);
    else if (error instanceof DOMException && error.name === 'QuotaExceededError')
      reason = texts.full;
    else if (error instanceof DOMException) {
      reason = texts.unstored;
      Object.assign(manifest, { after: '', isComplete: false });
    }
    const text = manifest.after === '' ? reason : `${reason} ${texts.arrived(amount(manifest))}`;
    card.stopped(text, again(), { ...manifest, isComplete: false });
    announce(`${survey}: ${text}`);
  }

  /** Hands the file over to the browser, which reads the parts while it saves them. */
  async function handOver(): Promise<void> {
    const parts = new Blob(await storage.parts(manifest.parts));
    const file = new Blob([await storage.join(parts)], { type: manifest.type });
    if (file.size !== manifest.bytes) throw new DOMException('a part is damaged', 'DataError');
    Object.assign(manifest, { isComplete: true, time: Date.now() });
    await storage.writeManifest(manifest);
    save(file, manifest.name);
  }

  function run(): Promise<void> {
    running = download().catch(() => {}); // it throws only when it is stopped
    return running;
  }

  async function download(): Promise<void> {
    const { signal } = controller;
    const leaving = new AbortController();
    if (!storage.isKept || !canContinue(manifest.request))
      addEventListener('beforeunload', (event) => event.preventDefault(), {
        signal: leaving.signal,
      });
    let progress: Progress = { ...manifest, state: 'running' };
    card.running(progress);
    announce(texts.started(survey));
    const ticker = setInterval(() => card.running(progress), RENDER_MS);
    try {
      const onProgress = (now: Progress) => {
        const hasChanged = now.state !== progress.state;
        progress = now;
        if (hasChanged) card.running(now);
      };
      await transfer({ api, storage, manifest, signal, onProgress });
      await handOver();
      if (manifest.request.path !== '/responses/questions')
        keepLastFile(manifest.email, survey, dayIn(TIME_ZONE, started));
      const text = completeText(manifest);
      card.stopped(text, texts.save, manifest);
      announce(`${survey}: ${text}`);
    } catch (error) {
      signal.throwIfAborted();
      fail(error);
    } finally {
      clearInterval(ticker);
      leaving.abort();
    }
  }

  /** Stops the download, then releases or deletes its storage. Later calls do nothing. */
  function end(how: () => unknown): Promise<void> {
    controller.abort();
    return (stopped ??= (async () => {
      await running;
      await how();
    })());
  }

  return {
    element: card.element,
    run,
    offer: () =>
      card.stopped(
        `${texts.unfinished} ${manifest.after === '' ? texts.startsAgain : texts.arrived(amount(manifest))}`,
        again(),
        manifest,
      ),
    stop: () => end(storage.release),
    remove: () => end(storage.remove),
  };
}

function completeText({ bytes, rows, total }: Manifest): string {
  const text = texts.complete(
    total === null ? amount({ bytes, rows, total }) : `${answers(rows)}, ${size(bytes)}`,
  );
  return total !== null && rows > total ? `${text} ${texts.added(rows - total)}` : text;
}

/** Hands a file over to the browser, which saves it among its downloads. */
function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
