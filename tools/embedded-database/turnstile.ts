/** Lets one holder through at a time, in the order of asking. */
export class Turnstile {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when all who asked before are done, with the function to call when done oneself. */
  async enter(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}
