import type { Manifest } from './manifest.ts';

/*
 * Stores what has arrived of the downloads in the Origin Private File System: a folder for each
 * download, with a file for each part, named by its number, and `manifest.json`. A tab locks a
 * folder while it works with it. A folder that is not locked was left by a tab that was closed.
 */

const MANIFEST = 'manifest.json';
const WHOLE = 'whole';
/**
 * Firefox reads a Blob that it saves into memory if it has several parts, but not if it is one
 * file.
 */
const NEEDS_ONE_FILE = navigator.userAgent.includes('Firefox/');

/** The storage of one download. */
export interface PartStorage {
  /** Whether the page finds the parts again after it has been closed. */
  readonly isPersistent: boolean;
  /** Adds or replaces a part. */
  readonly writePart: (number: number, blob: Blob) => Promise<void>;
  readonly writeManifest: (manifest: Manifest) => Promise<void>;
  /** Undefined if it is missing or damaged. */
  readonly readManifest: () => Promise<Manifest | undefined>;
  /** The first parts, as many as `count`. Their bytes are read only when they are needed. */
  readonly parts: (count: number) => Promise<Blob[]>;
  /** Makes one file of the parts in a Blob, in browsers that save one file better. */
  readonly join: (parts: Blob) => Promise<Blob>;
  /** Releases the folder to other tabs. */
  readonly release: () => void;
  /** Deletes it. */
  readonly remove: () => Promise<void>;
}

/**
 * Whether parts can be kept in files. They cannot in private windows of some browsers, or without
 * HTTPS.
 */
async function openRoot(): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    if ('createWritable' in FileSystemFileHandle.prototype)
      return await navigator.storage.getDirectory();
  } catch {} // as without it
  return undefined;
}

/** Takes the lock of a folder. @returns releases it; undefined if another tab holds it */
const takeLock = (name: string) =>
  new Promise<(() => void) | undefined>((resolve, reject) => {
    const hold = (lock: Lock | null) => {
      if (lock) return new Promise<void>((release) => resolve(release));
      return resolve(undefined);
    };
    navigator.locks.request(`download ${name}`, { ifAvailable: true }, hold).catch(reject);
  });

/**
 * Creates the storage of a new download: a folder, or memory where there is no file system or it
 * does not work.
 */
export async function createStorage(): Promise<PartStorage> {
  const root = await openRoot();
  const folder = root && openFolder(root, crypto.randomUUID()).catch(() => undefined);
  return (await folder) ?? inMemory();
}

/**
 * Calls `use` with the folders that closed tabs have left, locked for this tab; in one tab at a
 * time, so that none hides a folder.
 */
export async function withLeftStorages<T>(
  use: (folders: readonly PartStorage[]) => Promise<T>,
): Promise<T> {
  const root = await openRoot();
  if (!root) return use([]);

  return navigator.locks.request('left downloads', async () => {
    const names: string[] = [];
    for await (const name of root.keys()) names.push(name);

    const folders = await Promise.all(names.map((name) => openFolder(root, name)));
    return use(folders.filter((folder) => folder !== undefined));
  });
}

/** @returns undefined if another tab holds its lock */
async function openFolder(
  root: FileSystemDirectoryHandle,
  name: string,
): Promise<PartStorage | undefined> {
  const release = await takeLock(name);
  if (!release) return undefined;
  return inFolder(root, await root.getDirectoryHandle(name, { create: true }), release);
}

/** @param release its lock */
function inFolder(
  root: FileSystemDirectoryHandle,
  folder: FileSystemDirectoryHandle,
  release: () => void,
): PartStorage {
  const write = async (name: string, data: Blob | string) => {
    const file = await folder.getFileHandle(name, { create: true });
    const writable = await file.createWritable();
    await writable.write(data);
    await writable.close();
  };
  const read = async (name: string) => {
    const file = await folder.getFileHandle(name);
    return file.getFile();
  };
  let whole: Blob | undefined;

  return {
    isPersistent: true,

    writePart(number, blob) {
      whole = undefined;
      return write(String(number), blob);
    },

    writeManifest: (manifest) => write(MANIFEST, JSON.stringify(manifest)),

    async readManifest() {
      try {
        const file = await read(MANIFEST);
        return JSON.parse(await file.text()) as Manifest;
      } catch {
        return undefined;
      }
    },

    parts: (count) =>
      Promise.all(Array.from({ length: count }, (_, number) => read(String(number)))),

    async join(parts) {
      if (!NEEDS_ONE_FILE) return parts;
      if (whole) return whole;

      try {
        await write(WHOLE, parts);
        whole = await read(WHOLE);
        return whole;
      } catch {
        return parts; // the disk may be full
      }
    },

    release,

    async remove() {
      try {
        await root.removeEntry(folder.name, { recursive: true });
      } finally {
        release();
      }
    },
  };
}

function inMemory(): PartStorage {
  const parts: Blob[] = [];
  return {
    isPersistent: false,
    async writePart(number, blob) {
      parts[number] = blob;
    },
    writeManifest: async () => {},
    readManifest: async () => undefined,
    parts: async (count) => parts.slice(0, count),
    join: async (blob) => blob,
    release: () => void parts.splice(0),
    remove: async () => void parts.splice(0),
  };
}
