import { type Api, ApiError, type Params } from './api.ts';
import { TIME_ZONE } from './texts.ts';

/** How long numbers are used again, in milliseconds. */
export const FRESH = 60_000;

/** How many responses there are, and when they came. */
export interface Summary {
  readonly responses: number;
  readonly participants: number;
  /** The times of the first and the last response, ISO 8601; null if there is none. */
  readonly first: string | null;
  readonly last: string | null;
  /** The days with responses, in order. */
  readonly days: readonly Day[];
  /** How many participants a wide file leaves out, whom the other numbers do not count. */
  readonly left_out: number;
  /** The time zone in which the days begin: the reader's or, if the service does not know it, UTC. */
  readonly zone: string;
}

export interface Day {
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly responses: number;
  readonly participants: number;
}

/** The numbers of surveys. A count of millions takes seconds, so the same one is requested at most once a minute. */
export interface Summaries {
  /**
   * Counts responses. A survey without any has zero. The numbers can be a minute old.
   *
   * @param params with `survey`
   * @throws the errors of {@link Api}
   */
  readonly get: (params: Params, signal: AbortSignal) => Promise<Summary>;
  /** The last counts of a survey, of any age. */
  readonly known: (survey: string) => Summary | undefined;
  /** Keeps a survey's count running, if one is, for a view that will need it. */
  readonly keepCounting: (survey: string, signal: AbortSignal) => void;
  /** Forgets a survey's numbers: it is counted again when they are next needed. */
  readonly forget: (survey: string) => void;
}

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

export function createSummaries({ json }: Api): Summaries {
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
      // The view that replaces this one may need the same numbers.
      queueMicrotask(() => count.users === 0 && count.arrived === Infinity && count.stop());
    });
  }

  return {
    known: (survey) => known.get(queryOf([['survey', survey]])),
    keepCounting(survey, signal) {
      const count = counts.get(queryOf([['survey', survey]]));
      if (count) use(count, signal);
    },
    forget(survey) {
      const query = queryOf([['survey', survey]]);
      counts.delete(query);
      known.delete(query);
    },
    async get(params, signal) {
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
