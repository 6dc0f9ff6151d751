import { explain } from '../api.ts';
import { dayIn } from '../dates.ts';
import { keepLastFile } from '../last-files.ts';
import { size } from '../size.ts';
import { TIME_ZONE, answers, downloads as texts } from '../texts.ts';
import { amount, createCard } from './card.ts';
import type { Manifest } from './manifest.ts';
import { type ReceiveOptions, canContinue } from './receive.ts';
import { MissingRows, type Progress, transfer } from './transfer.ts';

const RENDER_MS = 250;

interface DownloadOptions extends Omit<ReceiveOptions, 'signal'> {
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

export function createDownload(options: DownloadOptions): Download {
  const { api, storage, manifest, announce, onRemove } = options;
  const { survey, about } = manifest.request;
  const controller = new AbortController();
  const { signal } = controller;
  const started = Date.now();
  let running: Promise<void> | undefined;
  let ended: Promise<void> | undefined;

  const card = createCard({
    survey,
    about,
    note: storage.isPersistent ? '' : texts.inMemory,
    act() {
      if (manifest.isComplete) void handOver().catch(fail);
      else void run();
    },
    remove() {
      onRemove();
      void end(storage.remove);
    },
    announce,
  });
  const actionLabel = () => (manifest.after === '' ? texts.again : texts.continue);

  /** Hands the file over to the browser, which reads the parts while it saves them. */
  async function handOver(): Promise<void> {
    const parts = new Blob(await storage.parts(manifest.parts));
    const file = new Blob([await storage.join(parts)], { type: manifest.type });
    if (file.size !== manifest.bytes) throw new DOMException('a part is damaged', 'DataError');

    Object.assign(manifest, { isComplete: true, time: Date.now() });
    await storage.writeManifest(manifest);
    save(file, manifest.name);
  }

  /** Shows why the download does not run, and what to do. */
  function fail(error: unknown): void {
    if (isUnreadable(error)) Object.assign(manifest, { after: '', isComplete: false });
    const reason = reasonOf(error, manifest);
    const text = manifest.after === '' ? reason : `${reason} ${texts.arrived(amount(manifest))}`;

    card.stopped(text, actionLabel(), { ...manifest, isComplete: false });
    announce(`${survey}: ${text}`);
  }

  async function download(): Promise<void> {
    const leaving = new AbortController();
    if (!storage.isPersistent || !canContinue(manifest.request)) warnBeforeLeaving(leaving.signal);

    let progress: Progress = { ...manifest, state: 'running' };
    const onProgress = (now: Progress) => {
      const hasChanged = now.state !== progress.state;
      progress = now;
      if (hasChanged) card.running(now);
    };
    card.running(progress);
    announce(texts.started(survey));
    const ticker = setInterval(() => card.running(progress), RENDER_MS);

    try {
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

  function run(): Promise<void> {
    running = download().catch(() => {}); // it throws only when it is stopped
    return running;
  }

  /** Stops the download, then releases or deletes its storage. Later calls do nothing. */
  function end(how: () => unknown): Promise<void> {
    const stop = async () => {
      await running;
      await how();
    };
    controller.abort();
    ended ??= stop();
    return ended;
  }

  return {
    element: card.element,
    run,
    offer() {
      const rest = manifest.after === '' ? texts.startsAgain : texts.arrived(amount(manifest));
      card.stopped(`${texts.unfinished} ${rest}`, actionLabel(), manifest);
    },
    stop: () => end(storage.release),
    remove: () => end(storage.remove),
  };
}

const isFull = (error: unknown) =>
  error instanceof DOMException && error.name === 'QuotaExceededError';

/** Whether the parts could not be written or read. */
const isUnreadable = (error: unknown) => error instanceof DOMException && !isFull(error);

function reasonOf(error: unknown, { rows, total }: Manifest): string {
  if (error instanceof MissingRows) return texts.missing(rows, total ?? 0);
  if (isFull(error)) return texts.full;
  return isUnreadable(error) ? texts.unstored : explain(error);
}

function completeText({ bytes, rows, total }: Manifest): string {
  if (total === null) return texts.complete(amount({ bytes, rows, total }));

  const text = texts.complete(`${answers(rows)}, ${size(bytes)}`);
  return rows > total ? `${text} ${texts.added(rows - total)}` : text;
}

/** Has the browser ask before it closes the page. */
function warnBeforeLeaving(signal: AbortSignal): void {
  addEventListener('beforeunload', (event) => event.preventDefault(), { signal });
}

/** Hands a file over to the browser, which saves it among its downloads. */
function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
