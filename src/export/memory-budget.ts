/**
 * Pages, of about 4 MiB each, that the exports of an isolate may together read ahead of their clients. Each export may always
 * read one. An isolate has 128 MB for all its requests (https://developers.cloudflare.com/workers/platform/limits/#memory): ten
 * pages, and two more for each of eight exports, take 104 MB.
 */
const MAX_PAGES = 10;

/** The exports of this isolate. Weak, since the runtime can end a request without running its `finally`. */
const running = new Set<WeakRef<MemoryBudget>>();

/** One export's share of the pages that an isolate reads ahead. */
export class MemoryBudget {
  readonly #self = new WeakRef(this);
  #pages = 0;

  constructor() {
    running.add(this.#self);
  }

  /** Reserves room for a page. @returns false if there is none at the moment */
  take(): boolean {
    if (this.#pages > 0 && !this.#hasRoom()) return false;
    this.#pages++;
    return true;
  }

  /** Releases the room of a page. */
  give(): void {
    this.#pages--;
  }

  /** Releases everything, when the export ends. */
  end(): void {
    running.delete(this.#self);
  }

  #hasRoom(): boolean {
    let pages = 0;
    for (const ref of running) {
      const budget = ref.deref();
      if (budget) pages += budget.#pages;
      else running.delete(ref);
    }
    return pages < MAX_PAGES && this.#pages < MAX_PAGES / running.size;
  }
}
