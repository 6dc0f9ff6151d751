import { element } from '../shared/dom.ts';
import type { Api } from './api.ts';
import { type Download, type DownloadOptions, createDownload } from './downloads/download.ts';
import type { DownloadRequest, Manifest } from './downloads/manifest.ts';
import { type Storage, createStorage, leftStorages } from './downloads/storage.ts';
import { downloads as texts } from './texts.ts';

/** An unfinished download is deleted after this time, in milliseconds. */
const KEPT_MS = 7 * 24 * 3600 * 1000;
/** A complete file is deleted after this time, in milliseconds. The browser has copied it by then, but does not report when. */
const SAVING_MS = 3600 * 1000;

/** The downloads of an account: those in progress, those that are complete, and those that can be continued. */
export interface Downloads {
  readonly element: HTMLElement;
  /** Starts a download. @param update makes the file from an older one */
  readonly start: (request: DownloadRequest, update?: DownloadOptions['update']) => Promise<void>;
  /** Stops all downloads. What has arrived stays, to be continued. */
  readonly stop: () => void;
  /**
   * Stops all downloads, and deletes the stored files of every account, except those that other tabs are using.
   *
   * @returns whether all could be deleted
   */
  readonly forget: () => Promise<boolean>;
}

export function createDownloads({ api, email }: { readonly api: Api; readonly email: string }): Downloads {
  const list = element('ul', {});
  const status = element('p', { role: 'status', className: 'unseen' });
  const all = new Set<Download>();
  let isStopped = false;

  function add(storage: Storage, manifest: Manifest, update?: DownloadOptions['update']): Download {
    const download = createDownload({
      api,
      storage,
      manifest,
      update,
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
  async function restore(): Promise<void> {
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

    async start(request, update) {
      const storage = await createStorage();
      if (isStopped) return storage.remove();
      const manifest = {
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
      };
      return add(storage, manifest, update).run();
    },

    stop() {
      isStopped = true;
      for (const download of all) void download.stop();
    },

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
