/*
 * An isolate serves many requests at a time, and has 128 MB for all of them:
 * https://developers.cloudflare.com/workers/platform/limits/#memory
 */

/** Pages, of some 4 MiB each, that the exports of an isolate may have ahead of their readers; each may have one in any case. */
const PAGES_OF_ALL = 10;

/**
 * What is ahead, export by export. Weak, because the runtime can end a request without its `finally`: such pages count for
 * as long as they are in memory.
 */
const all = new Set<WeakRef<readonly unknown[]>>();

/** Counts an export's pages from now on. @param ahead those that it has ahead of its reader: changed in place, empty in the end */
export function share(ahead: readonly unknown[]): void {
  all.add(new WeakRef(ahead));
}

/** Whether an export may read one more page ahead. @param ahead those that it has ahead */
export function mayReadAhead(ahead: readonly unknown[]): boolean {
  return ahead.length === 0 || pagesOfAll() < PAGES_OF_ALL;
}

function pagesOfAll(): number {
  let pages = 0;
  for (const ref of all) {
    const ahead = ref.deref();
    if (ahead) pages += ahead.length;
    else all.delete(ref);
  }
  return pages;
}
