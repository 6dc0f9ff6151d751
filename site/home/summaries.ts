import { ApiError, type Params } from './api.ts';
import type { Results } from './results.ts';
import { TIME_ZONE } from './texts.ts';

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
  /** The forms with responses, in the order of a wide file's columns. */
  readonly forms: readonly FormSummary[];
  /** For each rule that leaves out anybody, whom. */
  readonly left_out_by: readonly LeftOut[];
}

export interface Day {
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly responses: number;
  readonly participants: number;
}

export interface FormSummary {
  readonly shortcode: string;
  readonly responses: number;
  readonly participants: number;
}

export interface LeftOut {
  /** The parameter, and its value if it can have several. */
  readonly rule: string;
  readonly name: string | null;
  readonly participants: number;
  /** The first of them. */
  readonly userids: readonly string[];
}

/** The numbers of surveys. */
export interface Summaries {
  /**
   * Counts responses. A survey without any has zero. The numbers can be a minute old.
   *
   * @param params with `survey`
   * @throws the errors of {@link Results}; ApiError `no_responses` if the key has no such survey
   */
  readonly get: (params: Params, signal: AbortSignal) => Promise<Summary>;
  /** The last counts of a survey, of any age. */
  readonly known: (survey: string) => Summary | undefined;
  /** Keeps a survey's count running, if one is, for a view that will need it. */
  readonly keepCounting: (survey: string, signal: AbortSignal) => void;
  /** Forgets a survey's numbers: it is counted again when they are next needed. */
  readonly forget: (survey: string) => void;
  /** The time zone in which the days begin: the reader's or, if the service does not know it, UTC. */
  readonly zone: string;
}

const PATH = '/responses/summary';

export function createSummaries(results: Results): Summaries {
  let zone = TIME_ZONE;
  const inZone = (params: Params): Params => [...params, ['missing', '404'], ['timezone', zone]];
  const of = (survey: string) => inZone([['survey', survey]]);
  return {
    get zone() {
      return zone;
    },
    known: (survey) => results.known(PATH, of(survey)) as Summary | undefined,
    keepCounting: (survey, signal) => results.keep(PATH, of(survey), signal),
    forget: (survey) => results.forget(PATH, of(survey)),
    async get(params, signal) {
      const used = zone;
      try {
        return await results.get<Summary>(PATH, inZone(params), signal);
      } catch (error) {
        // The database does not know every zone that browsers know.
        if (used === 'UTC' || !(error instanceof ApiError && error.message.startsWith('timezone '))) throw error;
        zone = 'UTC';
        return results.get<Summary>(PATH, inZone(params), signal);
      }
    },
  };
}
