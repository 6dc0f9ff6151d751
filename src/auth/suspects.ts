const MAX_SUSPECTS = 1_000;
const SUSPECT_FOR_MS = 60_000;

/** Addresses that have sent a key which is not good, for a minute; of more than a thousand the last. */
export class Suspects {
  readonly #addresses = new Map<string, number>();

  add(address: string): void {
    this.#addresses.delete(address); // so that it becomes the newest
    this.#addresses.set(address, Date.now());
    for (const oldest of this.#addresses.keys()) {
      if (this.#addresses.size <= MAX_SUSPECTS) break;
      this.#addresses.delete(oldest);
    }
  }

  has(address: string): boolean {
    return Date.now() - (this.#addresses.get(address) ?? -Infinity) < SUSPECT_FOR_MS;
  }
}
