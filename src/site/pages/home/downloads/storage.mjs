/*
 * Stores what has arrived of the downloads in the Origin Private File System: a folder for each download, with a file for each
 * part, named by its number, and `manifest.json`. A tab locks a folder while it works with it. A folder that is not locked was
 * left by a tab that was closed.
 */

const MANIFEST = 'manifest.json';

/** @typedef {ReturnType<typeof inFolder>} Storage of one download */

/** Whether parts can be kept in files. They cannot in private windows of some browsers, or without HTTPS. */
async function openRoot() {
  try {
    return 'createWritable' in FileSystemFileHandle.prototype ? await navigator.storage.getDirectory() : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Takes the lock of a folder.
 *
 * @param {string} name
 * @returns {Promise<(() => void) | undefined>} releases it; undefined if another tab holds it
 */
const takeLock = (name) =>
  new Promise((resolve, reject) => {
    navigator.locks
      .request(`download ${name}`, { ifAvailable: true }, (lock) =>
        lock ? new Promise((release) => resolve(() => release(undefined))) : resolve(undefined),
      )
      .catch(reject);
  });

/** Creates the storage of a new download: a folder, or memory where there is no file system or it does not work. */
export async function createStorage() {
  const root = await openRoot();
  const folder = root && openFolder(root, crypto.randomUUID()).catch(() => undefined);
  return (await folder) ?? inMemory();
}

/**
 * The folders that closed tabs have left, locked for this one.
 *
 * @returns {Promise<Storage[]>}
 */
export async function leftStorages() {
  const root = await openRoot();
  if (!root) return [];
  const names = [];
  for await (const name of root.keys()) names.push(name);
  const folders = await Promise.all(names.map((name) => openFolder(root, name)));
  return folders.filter((folder) => folder !== undefined);
}

/**
 * @param {FileSystemDirectoryHandle} root
 * @param {string} name
 * @returns {Promise<Storage | undefined>} undefined if another tab holds its lock
 */
async function openFolder(root, name) {
  const release = await takeLock(name);
  return release && inFolder(root, await root.getDirectoryHandle(name, { create: true }), release);
}

/**
 * @param {FileSystemDirectoryHandle} root
 * @param {FileSystemDirectoryHandle} folder
 * @param {() => void} release its lock
 */
function inFolder(root, folder, release) {
  const write = async (/** @type {string} */ name, /** @type {Blob | string} */ data) => {
    const file = await folder.getFileHandle(name, { create: true });
    const writable = await file.createWritable();
    await writable.write(data);
    await writable.close();
  };
  const read = async (/** @type {string} */ name) => await (await folder.getFileHandle(name)).getFile();
  return {
    /** Whether it survives when the page is closed. */
    isKept: true,
    /** Adds or replaces a part. @param {number} number @param {Blob} blob */
    writePart: (number, blob) => write(String(number), blob),
    /** @param {import('./transfer.mjs').Manifest} manifest */
    writeManifest: (manifest) => write(MANIFEST, JSON.stringify(manifest)),
    /** @returns {Promise<import('./transfer.mjs').Manifest | undefined>} undefined if it is missing or damaged */
    readManifest: async () => {
      try {
        return JSON.parse(await (await read(MANIFEST)).text());
      } catch {
        return undefined;
      }
    },
    /** The first parts. @param {number} count @returns {Promise<Blob[]>} read from disk only when they are needed */
    parts: (count) => Promise.all(Array.from({ length: count }, (_, number) => read(String(number)))),
    /** Leaves it to other tabs. */
    release,
    /** Deletes it. */
    remove: async () => {
      try {
        await root.removeEntry(folder.name, { recursive: true });
      } finally {
        release();
      }
    },
  };
}

/** @returns {Storage} */
function inMemory() {
  /** @type {Blob[]} */
  const parts = [];
  return {
    isKept: false,
    writePart: async (number, blob) => void (parts[number] = blob),
    writeManifest: async () => {},
    readManifest: async () => undefined,
    parts: async (count) => parts.slice(0, count),
    release: () => void parts.splice(0),
    remove: async () => void parts.splice(0),
  };
}
