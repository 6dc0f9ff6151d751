import { pick } from '../../support/random.ts';
import type { Rehearsal } from './rehearsal.ts';
import { type QueryType, type Recorded, type SqlResult, hasRows } from './results.ts';

/** A well-formed result that is not the query's, or not all of it. */
export interface Lie {
  readonly name: string;
  /** The numbers of the queries of a type whose results can be altered; the first and the last come first and last. */
  readonly places: (kind: Rehearsal, type: QueryType) => readonly number[];
  /** Sends the other account's request at the same time. Both responses are checked. */
  readonly withOther?: boolean;
  readonly tell: Tell;
}

/** The altered result; undefined if there is nothing to alter. */
type Alter = (own: SqlResult, about: About) => SqlResult | undefined | Promise<SqlResult | undefined>;
/** Alters a result, or the query on its way to the database. */
type Tell = { readonly alter: Alter } | { readonly lowersLimit: true };

/** What a lie can use. */
export interface About {
  readonly query: Pick<Recorded, 'type' | 'at'>;
  readonly other: Rehearsal;
  /** The results of this type that the request has received before. */
  readonly earlier: readonly SqlResult[];
  /** Swaps the result for one of another request that is in flight; undefined if none arrives in time. */
  readonly swap: () => Promise<SqlResult | undefined>;
  readonly random: () => number;
}

/** How many results are altered: one, or all from a place on; or several at any place, each with the probability {@link SEVERAL}. */
export type Dose = 'one' | 'several' | 'all';
export const SEVERAL = 0.3;

const below = (random: () => number, end: number) => Math.floor(random() * end);
/** One row, or any number of them but not all. */
const some = ({ length }: SqlResult['rows'], random: () => number) =>
  random() < 0.5 ? 1 : 1 + below(random, length - 1);

const placesOf: Lie['places'] = ({ results }, type) => results.filter((r) => r.type === type).map(({ at }) => at);
/** Those of results with rows. */
const filledPlaces: Lie['places'] = ({ results }, type) =>
  results.filter((r) => r.type === type && hasRows(r.result)).map(({ at }) => at);
/** Those that have results of the type before them. */
const laterPlaces: Lie['places'] = (kind, type) => placesOf(kind, type).slice(1);
/** Those of results that are requested at the same time. */
const parallelPlaces: Lie['places'] = (kind, type) => {
  const isParallel = kind.results.some((r) => r.type === 'page boundaries' && hasRows(r.result));
  return isParallel && type === 'pages' ? laterPlaces(kind, type) : [];
};
/** Those whose query has a limit, which neither the service nor its client may take for the end. */
const limitedPlaces: Lie['places'] = (kind, type) => (type === 'form versions' ? [] : filledPlaces(kind, type));

/** Results that take the place of another one. */
const replacements: readonly (Omit<Lie, 'tell'> & { readonly alter: Alter })[] = [
  { name: 'swapped in one request', places: parallelPlaces, alter: (_, { swap }) => swap() },
  { name: 'swapped between accounts', places: placesOf, withOther: true, alter: (_, { swap }) => swap() },
  {
    name: 'stale',
    places: laterPlaces,
    alter: (_, { earlier, random }) => (earlier.length > 0 ? pick(random, earlier) : undefined),
  },
  {
    name: 'foreign',
    places: placesOf,
    alter: (_, { other, query: { type, at }, random }) => {
      const results = other.results.filter((r) => r.type === type);
      return (results.find((r) => r.at === at) ?? pick(random, results)).result;
    },
  },
];

/** Changes to the rows of a result. */
const changes: Record<string, (rows: SqlResult['rows'], random: () => number) => SqlResult['rows']> = {
  'doubled: all rows': (rows) => [...rows, ...rows],
  'doubled: one row': (rows, random) => {
    const at = below(random, rows.length);
    return rows.toSpliced(at, 0, ...rows.slice(at, at + 1));
  },
  'shortened at the end': (rows, random) => rows.slice(0, -some(rows, random)),
  'shortened at the start': (rows, random) => rows.slice(some(rows, random)),
  'shortened in the middle': (rows, random) => {
    const at = 1 + below(random, rows.length - 2);
    return rows.length < 3 ? rows : rows.toSpliced(at, Math.min(some(rows, random), rows.length - 1 - at));
  },
  'shortened to nothing': () => [],
};

const withRows = (own: SqlResult, rows: SqlResult['rows']): SqlResult => ({ ...own, rows, rowCount: rows.length });

export const lies: readonly Lie[] = [
  ...replacements.flatMap(({ name, alter, ...rest }): Lie[] => [
    { ...rest, name: `${name}: whole`, tell: { alter } },
    {
      ...rest,
      name: `${name}: only rows`,
      tell: {
        async alter(own, about) {
          const result = await alter(own, about);
          return result && withRows(own, result.rows);
        },
      },
    },
  ]),
  ...Object.entries(changes).map(([name, change]): Lie => ({
    name,
    places: filledPlaces,
    tell: { alter: (own, { random }) => withRows(own, change(own.rows, random)) },
  })),
  { name: 'shortened by a lower limit', places: limitedPlaces, tell: { lowersLimit: true } },
];

/** A lie, and the results that it changes. */
export interface LiePlan {
  readonly lie: Lie;
  readonly type: QueryType;
  readonly dose: Dose;
  /** The number of the first query of this type. */
  readonly place: number;
}
