import type { Api, Params } from './api.ts';

/** How long a result is used again, in milliseconds. */
const FRESH = 60_000;
/** How many requests run at a time. The service runs two scans at a time for a key. */
const AT_ONCE = 2;

/**
 * Results of the API, for all views. A count of millions takes seconds, so the same one is
 * requested at most once a minute. Requests take turns: those that a view makes first come first.
 */
export interface Results {
  /**
   * Requests JSON, or returns what has arrived in the last minute.
   *
   * @throws the errors of {@link Api}
   */
  readonly get: <T>(path: string, params: Params, signal: AbortSignal) => Promise<T>;
  /** What a request returned last, however long ago. */
  readonly known: (path: string, params: Params) => unknown;
}

/** A request, for all who need its result. */
interface SharedRequest {
  readonly result: Promise<unknown>;
  readonly stop: () => void;
  /** How many views need it. */
  users: number;
  /** When it arrived, in milliseconds of `performance.now()`; until then, infinity. */
  arrived: number;
}

const addressOf = (path: string, params: Params) => `${path}?${new URLSearchParams(params)}`;

export function createResults({ json }: Pick<Api, 'json'>): Results {
  const inTurn = createQueue();
  const requests = new Map<string, SharedRequest>();
  const known = new Map<string, unknown>();

  function start(address: string, path: string, params: Params): SharedRequest {
    const controller = new AbortController();
    const result = inTurn(() => json(path, params, controller.signal), controller.signal);
    const forget = () => {
      if (requests.get(address) === request) requests.delete(address);
    };
    const stop = () => {
      forget();
      controller.abort();
    };
    const request: SharedRequest = { result, stop, users: 0, arrived: Infinity };
    requests.set(address, request);

    const keep = (value: unknown) => {
      request.arrived = performance.now();
      known.set(address, value);
    };
    result.then(keep, forget);
    return request;
  }

  /** A request ends if the views that need it are closed. */
  function use(request: SharedRequest, signal: AbortSignal): void {
    request.users++;
    signal.addEventListener('abort', () => {
      request.users--;
      // The view that replaces this one may need the same result.
      queueMicrotask(() => {
        const isUnused = request.users === 0 && request.arrived === Infinity;
        if (isUnused) request.stop();
      });
    });
  }

  return {
    known: (path, params) => known.get(addressOf(path, params)),
    async get<T>(path: string, params: Params, signal: AbortSignal) {
      signal.throwIfAborted();
      const address = addressOf(path, params);
      const last = requests.get(address);
      const isFresh = last && performance.now() - last.arrived < FRESH;
      const request = isFresh ? last : start(address, path, params);

      use(request, signal);
      const result = await request.result;
      signal.throwIfAborted();
      return result as T;
    },
  };
}

/** Runs tasks in order, two at a time. One that is aborted before its turn does not run. */
function createQueue() {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async <T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    if (running === AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      signal.throwIfAborted();
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
