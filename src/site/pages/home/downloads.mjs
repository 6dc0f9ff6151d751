import { element } from '../shared/dom.mjs';
import { createDownload } from './downloads/download.mjs';
import { createStorage, leftStorages } from './downloads/storage.mjs';
import { downloads as texts } from './texts.mjs';

/** An unfinished download is deleted after this time, in milliseconds. */
const KEPT_MS = 7 * 24 * 3600 * 1000;
/** A complete file is deleted after this time, in milliseconds. The browser has copied it by then, but does not report when. */
const SAVING_MS = 3600 * 1000;

/**
 * A file to download.
 *
 * @typedef {object} DownloadRequest
 * @property {string} survey
 * @property {string} path of the endpoint, below the base path
 * @property {import('./api.mjs').Params} params without `count` and `after`
 * @property {'csv' | 'ndjson' | 'wide' | 'other'} format `csv`: the long layout; `wide`: CSV in the wide layout; `other`: a workbook,
 *   for instance. The first two are counted, and continued after an interruption.
 */

/** @typedef {ReturnType<typeof createDownloads>} Downloads */

/**
 * The downloads of an account: those in progress, those that are complete, and those that can be continued.
 *
 * @param {{ api: import('./api.mjs').Api, email: string }} account
 */
export function createDownloads({ api, email }) {
  const list = element('ul', {});
  const status = element('p', { role: 'status', className: 'unseen' });
  const all = new Set(/** @type {import('./downloads/download.mjs').Download[]} */ ([]));
  let isStopped = false;

  /**
   * @param {import('./downloads/storage.mjs').Storage} storage
   * @param {import('./downloads/transfer.mjs').Manifest} manifest
   */
  function add(storage, manifest) {
    const download = createDownload({
      api,
      storage,
      manifest,
      announce: (text) => (status.textContent = text),
      onRemove: () => {
        all.delete(download);
        download.element.remove();
        const next = list.querySelector('button') ?? document.querySelector('main');
        next?.focus();
      },
    });
    all.add(download);
    list.prepend(download.element);
    return download;
  }

  /** Offers what earlier pages have left unfinished, and deletes what is old. */
  async function restore() {
    for (const storage of await leftStorages()) {
      const manifest = await storage.readManifest();
      const { isComplete = true, time = 0 } = manifest ?? {};
      if (!manifest || time < Date.now() - (isComplete ? SAVING_MS : KEPT_MS)) await storage.remove().catch(() => {});
      else if (isStopped || isComplete || manifest.email !== email) storage.release();
      else add(storage, manifest).offer();
    }
  }
  const restored = restore().catch(() => {}); // without its files, the page still works

  return {
    element: element('section', { className: 'downloads', 'aria-label': texts.region }, list, status),

    /** Starts a download. @param {DownloadRequest} request */
    async start(request) {
      const storage = await createStorage();
      if (isStopped) return storage.remove();
      return add(storage, {
        email,
        order: request,
        time: Date.now(),
        parts: 0,
        bytes: 0,
        rows: 0,
        total: null,
        columns: [],
        after: '',
        name: '',
        type: '',
        isComplete: false,
      }).run();
    },

    /** Stops all downloads. What has arrived stays, to be continued. */
    stop() {
      isStopped = true;
      for (const download of all) void download.stop();
    },

    /**
     * Stops all downloads, and deletes the stored files of every account, except those that other tabs are using.
     *
     * @returns whether all could be deleted
     */
    async forget() {
      isStopped = true;
      await restored;
      await Promise.allSettled(Array.from(all, (download) => download.remove()));
      const left = await leftStorages();
      const removed = await Promise.allSettled(left.map((storage) => storage.remove()));
      return removed.every((result) => result.status === 'fulfilled');
    },
  };
}
