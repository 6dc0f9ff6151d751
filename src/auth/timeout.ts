/**
 * Waits for work, but not longer than so many milliseconds.
 *
 * @param late gives, or throws, what the caller gets instead
 * @throws what the work throws
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, late: () => T): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<typeof LATE>();
  const timer = setTimeout(() => resolve(LATE), ms);
  try {
    const outcome = await Promise.race([work, promise]);
    return outcome === LATE ? late() : outcome;
  } finally {
    clearTimeout(timer);
  }
}

const LATE = Symbol('late');
