import { type Api, ApiError, type Params, type Summary } from './api.ts';
import { TIME_ZONE } from './texts.ts';

/** How long numbers are used again, in milliseconds. */
export const FRESH = 60_000;

/** A count, for all who need the same numbers. */
interface Count {
  readonly result: Promise<Summary>;
  readonly stop: () => void;
  /** How many views need it. */
  users: number;
  /** When it arrived, in milliseconds of `performance.now()`; until then, infinity. */
  arrived: number;
}

const queryOf = (params: Params) => String(new URLSearchParams(params));

/** Counts answers. A count of millions takes seconds, so the same numbers are requested at most once a minute. */
export function createSummaries(json: Api['json']): Pick<Api, 'summary' | 'known' | 'keepCounting' | 'forgetCounts'> {
  const counts = new Map<string, Count>();
  const known = new Map<string, Summary>();
  let zone = TIME_ZONE;

  async function request(params: Params, signal: AbortSignal): Promise<Summary> {
    const used = zone;
    try {
      const query: Params = [...params, ['timezone', used]];
      return { ...(await json<Omit<Summary, 'zone'>>('/responses/summary', query, signal)), zone: used };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'no_responses')
        return { responses: 0, participants: 0, first: null, last: null, days: [], left_out: 0, zone: used };
      // The database does not know every zone that browsers know.
      if (used === 'UTC' || !error.message.startsWith('timezone ')) throw error;
      zone = 'UTC';
      return request(params, signal);
    }
  }

  function start(query: string, params: Params): Count {
    const controller = new AbortController();
    const result = request(params, controller.signal);
    const forget = () => void (counts.get(query) === count && counts.delete(query));
    const stop = () => {
      forget();
      controller.abort();
    };
    const count: Count = { result, stop, users: 0, arrived: Infinity };
    counts.set(query, count);
    const keep = (summary: Summary) => {
      count.arrived = performance.now();
      return known.set(query, summary);
    };
    result.then(keep, forget);
    return count;
  }

  /** A count ends if the views that need it are closed. */
  function use(count: Count, signal: AbortSignal): void {
    count.users++;
    signal.addEventListener('abort', () => {
      count.users--;
      // Unless the view that replaces this one needs the same numbers.
      queueMicrotask(() => count.users === 0 && count.arrived === Infinity && count.stop());
    });
  }

  return {
    known: (survey) => known.get(queryOf([['survey', survey]])),
    keepCounting(survey, signal) {
      const count = counts.get(queryOf([['survey', survey]]));
      if (count) use(count, signal);
    },
    forgetCounts(survey) {
      const query = queryOf([['survey', survey]]);
      counts.delete(query);
      known.delete(query);
    },
    async summary(params, signal) {
      signal.throwIfAborted();
      const query = queryOf(params);
      const last = counts.get(query);
      const count = last && performance.now() - last.arrived < FRESH ? last : start(query, params);
      use(count, signal);
      const summary = await count.result;
      signal.throwIfAborted();
      return summary;
    },
  };
}
