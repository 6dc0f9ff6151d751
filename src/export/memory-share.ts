/**
 * Pages, of some 4 MiB each, that the exports of an isolate may have ahead of their readers in all; each may have one in any
 * case. An isolate has 128 MB for all the requests that it serves at a time
 * (https://developers.cloudflare.com/workers/platform/limits/#memory): ten pages, and two for each of eight exports, are 104.
 */
const PAGES_OF_ALL = 10;

/** The exports of this isolate. Weak, because the runtime can end a request without its `finally`. */
const running = new Set<WeakRef<MemoryShare>>();

/** An export's part of the pages that the exports of an isolate read ahead. */
export class MemoryShare {
  readonly #self = new WeakRef(this);
  #pages = 0;

  constructor() {
    running.add(this.#self);
  }

  /** Takes room for a page. @returns false where it has to wait */
  take(): boolean {
    if (this.#pages > 0 && !this.#mayHaveMore()) return false;
    this.#pages++;
    return true;
  }

  /** Gives back the room of a page. */
  give(): void {
    this.#pages--;
  }

  /** Gives back all. */
  end(): void {
    running.delete(this.#self);
  }

  #mayHaveMore(): boolean {
    let pages = 0;
    for (const ref of running) {
      const share = ref.deref();
      if (share) pages += share.#pages;
      else running.delete(ref);
    }
    return pages < PAGES_OF_ALL && this.#pages < PAGES_OF_ALL / running.size;
  }
}
