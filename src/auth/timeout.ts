/**
 * Waits for a result for at most `ms` milliseconds. Does not end the work itself.
 *
 * @throws error() after that
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, error: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(error()), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
