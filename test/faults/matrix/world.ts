import type { TestSurvey } from '../../support/data.ts';
import type { FaultProxy } from '../../support/fault-proxy.ts';
import { type Kind, type KindOptions, kindsOf } from './kinds.ts';
import { QUERY_TYPES } from './results.ts';
import {
  LARGE,
  SMALL,
  SMALL_RESULT_BYTES,
  SPLIT,
  SPLIT_RESULT_BYTES,
  type SurveySize,
  createSurveyPair,
} from './surveys.ts';

/** A kind of request, and the same request of another account, whose survey has the same name and size. */
export interface PairedKind extends Kind {
  readonly other: Kind;
}

/** All kinds of requests. */
export interface World {
  readonly survey: TestSurvey;
  /** Every kind of request for few rows: each takes up to five requests to the database. */
  readonly small: readonly PairedKind[];
  /** The same with a low limit for results: many requests to the database, one after another. */
  readonly inParts: readonly PairedKind[];
  /** Files of some megabytes: many requests to the database, in parallel. */
  readonly large: readonly Kind[];
  /** Further kinds for lies: all pages one after another, and files of many small pages. */
  readonly forLies: readonly PairedKind[];
}

const WHOLE = [
  'csv',
  'csv with filters',
  'csv resumed',
  'csv under gzip',
  'wide',
  'ndjson',
  'ndjson under gzip',
  'a page',
  'the next page',
  'form versions',
  'surveys',
];
const IN_PARTS = ['csv', 'csv resumed', 'csv under gzip', 'wide', 'ndjson', 'a page', 'the next page'];
const PARALLEL = ['csv', 'csv under gzip', 'wide', 'ndjson'];
const PAGES = ['pages of 100', 'pages of 350', 'pages of 350 under gzip', 'pages of 900'];
const SPLITTING = ['csv', 'csv under gzip', 'wide', 'wide under gzip', 'ndjson', 'ndjson under gzip'];

export async function createWorld(proxy: FaultProxy): Promise<World> {
  const kindsFor = async (size: SurveySize, sets: readonly KindOptions[]) => {
    const [requested, other] = await createSurveyPair(size);
    const paired: PairedKind[][] = [];
    for (const options of sets) {
      const others = await kindsOf(other, proxy, options);
      const kinds = await kindsOf(requested, proxy, options);
      paired.push(kinds.map((kind, i) => Object.assign(kind, { other: others[i] as Kind })));
    }
    return [requested, ...paired] as const;
  };
  const maxResultBytes = SMALL_RESULT_BYTES;
  const [survey, small = [], inParts = [], pages = [], pagesInParts = []] = await kindsFor(SMALL, [
    { suffix: 'of few rows', names: WHOLE },
    { suffix: 'in parts', names: IN_PARTS, maxResultBytes },
    { suffix: 'of few rows', names: PAGES },
    { suffix: 'in parts', names: PAGES, maxResultBytes },
  ]);
  const [largeSurvey] = await createSurveyPair(LARGE);
  const large = await kindsOf(largeSurvey, proxy, { suffix: 'of many bytes', names: PARALLEL });
  const [, split = []] = await kindsFor(SPLIT, [
    { suffix: 'of many pages', names: SPLITTING, maxResultBytes: SPLIT_RESULT_BYTES },
  ]);
  for (const { name, results } of split) {
    const boundaries = results.filter(({ type }) => type === 'page boundaries');
    if (boundaries.length < 2) throw new Error(`${name}: ${boundaries.length} queries for page boundaries`);
  }
  const forLies = [...pages, ...pagesInParts, ...split];
  const types = new Set(forLies.flatMap(({ results }) => results.map(({ type }) => type)));
  for (const type of QUERY_TYPES) if (!types.has(type)) throw new Error(`no query for ${type}`);
  return { survey, small, inParts, large, forLies };
}
