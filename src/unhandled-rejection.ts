/** Reports a failure when the promise is awaited, not as an unhandled rejection before. */
export function suppressUnhandledRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
