import { save } from '../../shared/request.mjs';
import { explain } from '../api.mjs';
import { downloads as texts, responses } from '../texts.mjs';
import { amount, createCard } from './card.mjs';
import { MissingRows, canContinue, transfer } from './transfer.mjs';
import { size } from '../../shared/size.mjs';

const RENDER_MS = 250;

/** @typedef {ReturnType<typeof createDownload>} Download */

/**
 * A download, and its card.
 *
 * @param {object} options
 * @param {import('../api.mjs').Api} options.api
 * @param {import('./storage.mjs').Storage} options.storage
 * @param {import('./transfer.mjs').Manifest} options.manifest
 * @param {(text: string) => void} options.announce
 * @param {() => void} options.onRemove called when the user removes it
 */
export function createDownload({ api, storage, manifest, announce, onRemove }) {
  const { survey } = manifest.order;
  const controller = new AbortController();
  /** @type {Promise<void> | undefined} */
  let running;
  /** @type {Promise<void> | undefined} */
  let stopped;
  const card = createCard({
    survey,
    note: storage.isKept ? '' : texts.inMemory,
    act: () => (manifest.isComplete ? void handOver().catch(fail) : run()),
    remove: () => {
      onRemove();
      void end(storage.remove);
    },
    announce,
  });

  const again = () => (manifest.after === '' ? texts.again : texts.continue);

  /** Shows why it does not run, and what to do. @param {unknown} error */
  function fail(error) {
    let reason = explain(error);
    if (error instanceof MissingRows) reason = texts.missing(manifest.rows, manifest.total ?? 0);
    else if (error instanceof DOMException && error.name === 'QuotaExceededError') reason = texts.full;
    else if (error instanceof DOMException) {
      reason = texts.unstored;
      Object.assign(manifest, { after: '', isComplete: false });
    }
    const text = manifest.after === '' ? reason : `${reason} ${texts.arrived(amount(manifest))}`;
    card.stopped(text, again(), manifest);
    announce(`${survey}: ${text}`);
  }

  /** Hands the file over to the browser, which reads the parts while it saves them. */
  async function handOver() {
    const file = new Blob(await storage.parts(manifest.parts), { type: manifest.type });
    if (file.size !== manifest.bytes) throw new DOMException('a part is damaged', 'DataError');
    save(file, manifest.name);
  }

  function run() {
    running = download().catch(() => {}); // it was stopped
  }

  async function download() {
    const { signal } = controller;
    const leaving = new AbortController();
    if (!storage.isKept || !canContinue(manifest.order))
      addEventListener('beforeunload', (event) => event.preventDefault(), { signal: leaving.signal });
    /** @type {import('./transfer.mjs').Progress} */
    let progress = { ...manifest, state: 'running' };
    card.running(progress);
    announce(texts.started(survey));
    const ticker = setInterval(() => card.running(progress), RENDER_MS);
    try {
      const onProgress = (/** @type {typeof progress} */ now) => {
        const hasChanged = now.state !== progress.state;
        progress = now;
        if (hasChanged) card.running(now);
      };
      await transfer({ api, storage, manifest, signal, onProgress });
      await handOver();
      Object.assign(manifest, { isComplete: true, time: Date.now() });
      await storage.writeManifest(manifest);
      const text = completeText(manifest);
      card.stopped(`${text} ${texts.where}`, texts.save, manifest);
      announce(`${survey}: ${text}`);
    } catch (error) {
      signal.throwIfAborted();
      fail(error);
    } finally {
      clearInterval(ticker);
      leaving.abort();
    }
  }

  /** Stops, then releases or deletes the storage. Only the first call does. @param {() => unknown} how */
  function end(how) {
    controller.abort();
    return (stopped ??= (async () => {
      await running;
      await how();
    })());
  }

  return {
    element: card.element,
    run,
    /** Offers to continue it. */
    offer: () =>
      card.stopped(
        `${texts.unfinished} ${manifest.after === '' ? texts.startsAgain : texts.arrived(amount(manifest))}`,
        again(),
        manifest,
      ),
    /** Stops. It can be continued later, or in another tab. */
    stop: () => end(storage.release),
    /** Stops, and deletes what has arrived. */
    remove: () => end(storage.remove),
  };
}

/** @param {import('./transfer.mjs').Manifest} manifest */
function completeText({ bytes, rows, total }) {
  if (total === null || rows <= total) return texts.complete(amount({ bytes, rows, total }));
  return `${texts.complete(`${responses(rows)}, ${size(bytes)}`)} ${texts.added(rows - total)}`;
}
