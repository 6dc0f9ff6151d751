import type { TestSurvey } from '../../support/data.ts';
import type { FaultProxy } from '../../support/fault-proxy.ts';
import { type Kind, kindsOf } from './kinds.ts';
import { LARGE, SMALL_RESULT_BYTES, SMALL, createSurveyPair } from './surveys.ts';

/** All kinds of requests. */
export interface World {
  readonly survey: TestSurvey;
  /** Every kind of request for few rows: each takes up to five requests to the database. */
  readonly small: readonly Kind[];
  /** The same with a low limit for results: many requests to the database, one after another. */
  readonly inParts: readonly Kind[];
  /** Files of some megabytes: many requests to the database, in parallel. */
  readonly large: readonly Kind[];
}

const IN_PARTS = ['csv', 'csv resumed', 'csv under gzip', 'wide', 'ndjson', 'a page', 'the next page'];
const PARALLEL = ['csv', 'csv under gzip', 'wide', 'ndjson'];

export async function createWorld(proxy: FaultProxy): Promise<World> {
  const survey = await createSurveyPair(SMALL);
  const large = await createSurveyPair(LARGE);
  return {
    survey,
    small: await kindsOf(survey, proxy, { suffix: 'of few rows' }),
    inParts: await kindsOf(survey, proxy, { suffix: 'in parts', names: IN_PARTS, maxResultBytes: SMALL_RESULT_BYTES }),
    large: await kindsOf(large, proxy, { suffix: 'of many bytes', names: PARALLEL }),
  };
}
