import { ApiError, type Params } from './api.ts';
import type { Results } from './api-results.ts';
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
  /** With the parameter `stops`: how many participants have their last response to each question. */
  readonly stops?: readonly Stop[];
}

export interface Day {
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly responses: number;
  readonly participants: number;
}

export interface FormSummary {
  readonly shortcode: string;
  readonly participants: number;
}

interface Stop extends FormSummary {
  readonly question_ref: string;
}

export interface LeftOut {
  /** The parameter, and its value if it can have several. */
  readonly rule: string;
  readonly name: string | null;
  readonly participants: number;
  /** The first of them. */
  readonly userids: readonly string[];
}

/**
 * The numbers of surveys. Days begin in a time zone or, if the service does not know it, in UTC.
 */
export interface Summaries {
  /**
   * Counts responses. A survey without any has zero. The numbers can be a minute old.
   *
   * @param params with `survey`
   * @throws the errors of {@link Results}; ApiError `no_responses` if the key has no such survey
   */
  readonly get: (params: Params, signal: AbortSignal, zone?: string) => Promise<Summary>;
  /** The last counts, of any age. */
  readonly known: (params: Params, zone?: string) => Summary | undefined;
  /** The time zone in which the days begin that were asked for in another one. */
  readonly zoneFor: (zone: string) => string;
}

const PATH = '/responses/summary';

export function createSummaries(results: Results): Summaries {
  const unknown = new Set<string>();
  const zoneFor = (zone: string) => (unknown.has(zone) ? 'UTC' : zone);
  const inZone = (params: Params, zone = TIME_ZONE): Params => [
    ...params,
    ['timezone', zoneFor(zone)],
  ];

  return {
    zoneFor,
    known: (params, zone) => results.known(PATH, inZone(params, zone)) as Summary | undefined,
    async get(params, signal, zone = TIME_ZONE) {
      const used = zoneFor(zone);
      try {
        return await results.get<Summary>(PATH, inZone(params, zone), signal);
      } catch (error) {
        // The database does not know every zone that browsers know.
        const isUnknown = error instanceof ApiError && error.message.startsWith('timezone ');
        if (used === 'UTC' || !isUnknown) throw error;

        unknown.add(zone);
        return results.get<Summary>(PATH, inZone(params, zone), signal);
      }
    },
  };
}
