/** A token bucket: so many at once, then one more every so often. */
export class Allowance {
  readonly #size: number;
  readonly #everyMs: number;
  #left: number;
  #countedAt = Date.now();

  /** @param size what may be spent at once. @param everyMs milliseconds until one more may be spent */
  constructor(size: number, everyMs: number) {
    this.#size = size;
    this.#everyMs = everyMs;
    this.#left = size;
  }

  /** Milliseconds until one may be spent; 0 when it may be now. */
  waitMs(): number {
    this.#refill();
    return this.#left >= 1 ? 0 : Math.ceil((1 - this.#left) * this.#everyMs);
  }

  spend(): void {
    this.#refill();
    this.#left -= 1;
  }

  #refill(): void {
    const now = Date.now();
    this.#left = Math.min(this.#size, this.#left + Math.max(0, now - this.#countedAt) / this.#everyMs);
    this.#countedAt = now;
  }
}
