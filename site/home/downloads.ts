import { html } from './dom.ts';
import type { Api } from './api.ts';
import { type Download, createDownload } from './downloads/download.ts';
import { type DownloadRequest, type Manifest, NOTHING } from './downloads/manifest.ts';
import { type PartStorage, createStorage, withLeftStorages } from './downloads/storage.ts';
import { forgetLastFiles } from './last-files.ts';
import { downloads as texts } from './texts.ts';

/** An unfinished download is deleted after this time, in milliseconds. */
const KEPT_MS = 7 * 24 * 3600 * 1000;
/**
 * A complete file is deleted after this time, in milliseconds. The browser has copied it by then,
 * but does not report when.
 */
const SAVING_MS = 600 * 1000;

/**
 * The downloads of an account: those in progress, those that are complete, and those that can be
 * continued.
 */
export interface Downloads {
  readonly element: HTMLElement;
  /** Starts a download, unless the same one is running. */
  readonly start: (request: DownloadRequest) => Promise<void>;
  /** Removes what is done from the list. */
  readonly clear: () => void;
  /** Stops all downloads. What has arrived stays, to be continued. */
  readonly stop: () => void;
  /**
   * Stops all downloads, and deletes the stored files of every account, except those that other
   * tabs are using.
   *
   * @returns whether all could be deleted
   */
  readonly forget: () => Promise<boolean>;
}

/**
 * Deletes old downloads that closed tabs have left, and offers the others to `take`, which returns
 * whether it keeps one.
 */
const tidy = (take: (storage: PartStorage, manifest: Manifest) => boolean): Promise<void> =>
  withLeftStorages(async (storages) => {
    for (const storage of storages) {
      const manifest = await storage.readManifest();
      if (!manifest?.request || isOld(manifest)) await storage.remove().catch(() => {});
      else if (manifest.isComplete || !take(storage, manifest)) storage.release();
    }
  }).catch(() => {}); // without its files, the page still works

const isOld = ({ isComplete, time }: Manifest) =>
  time < Date.now() - (isComplete ? SAVING_MS : KEPT_MS);

/** Deletes the old downloads of all accounts. */
export const sweep = (): Promise<void> => tidy(() => false);

export function createDownloads(api: Api, email: string): Downloads {
  const list = html.ul({});
  const status = html.p({ role: 'status', className: 'unseen' });
  const all = new Map<Download, Manifest>();
  /** The requests of the files that are being downloaded, as JSON, without their names. */
  const running = new Set<string>();
  let isStopped = false;

  function add(storage: PartStorage, manifest: Manifest): Download {
    const announce = (text: string) => (status.textContent = text);
    const onRemove = () => {
      all.delete(download);
      download.element.remove();
      const next = list.querySelector('button') ?? document.querySelector('main');
      next?.focus();
    };

    const download = createDownload({ api, storage, manifest, announce, onRemove });
    all.set(download, manifest);
    list.prepend(download.element);
    return download;
  }

  const restored = tidy((storage, manifest) => {
    if (isStopped || manifest.email !== email) return false;
    add(storage, manifest).offer();
    return true;
  });

  async function begin(request: DownloadRequest): Promise<void> {
    const storage = await createStorage();
    if (isStopped) return storage.remove();

    const manifest = { email, request, time: Date.now(), ...NOTHING, isComplete: false };
    const { element: card, run } = add(storage, manifest);
    const ended = run();
    card.scrollIntoView({ block: 'nearest' });
    return ended;
  }

  return {
    element: html.section(
      { className: 'downloads', 'aria-label': texts.region },
      list,
      html.p('note where', texts.where),
      status,
    ),

    async start(request) {
      const file = JSON.stringify({ ...request, name: '' }); // the name has the minute
      if (running.has(file)) return;

      running.add(file);
      await begin(request).finally(() => running.delete(file));
    },

    clear() {
      for (const [download, { isComplete, time }] of all) {
        if (!isComplete || time === 0) continue;

        void download.stop();
        download.element.remove();
        all.delete(download);
      }
    },

    stop() {
      isStopped = true;
      for (const download of all.keys()) void download.stop();
    },

    async forget() {
      isStopped = true;
      forgetLastFiles();
      await restored;
      await Promise.allSettled(Array.from(all.keys(), (download) => download.remove()));

      return withLeftStorages(async (left) => {
        const removed = await Promise.allSettled(left.map((storage) => storage.remove()));
        return removed.every((result) => result.status === 'fulfilled');
      });
    },
  };
}
