import type { TestSurvey } from '../../support/data.ts';
import type { FaultProxy } from '../../support/fault-proxy.ts';
import { type Kind, kindsOf } from './kinds.ts';
import { LARGE, SHORT_ANSWERS, SMALL, createTwins } from './twins.ts';

/** Everything that is asked for under faults. */
export interface World {
  readonly survey: TestSurvey;
  /** All that can be asked, of few rows: some requests each. */
  readonly small: readonly Kind[];
  /** The same where the endpoint gives short answers only: many requests, one after another. */
  readonly inParts: readonly Kind[];
  /** Of some megabytes: many requests, side by side. */
  readonly large: readonly Kind[];
}

const IN_PARTS = ['csv', 'csv resumed', 'csv under gzip', 'wide', 'ndjson', 'a page', 'the next page'];
const SIDE_BY_SIDE = ['csv', 'csv under gzip', 'wide', 'ndjson'];

export async function createWorld(proxy: FaultProxy): Promise<World> {
  const survey = await createTwins(SMALL);
  const large = await createTwins(LARGE);
  return {
    survey,
    small: await kindsOf(survey, proxy, { of: 'few rows' }),
    inParts: await kindsOf(survey, proxy, { of: 'few rows in parts', names: IN_PARTS, longest: SHORT_ANSWERS }),
    large: await kindsOf(large, proxy, { of: 'many bytes', names: SIDE_BY_SIDE }),
  };
}
