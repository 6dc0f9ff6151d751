import { PATHS, type Path, type Request, formsOf } from '../expected/select.ts';
import type { Account } from '../model/account.ts';
import type { Random, Sized } from '../model/random-data.ts';
import { randomParameters } from './parameters.ts';

/** A kind of requests for one of the large surveys, which every fault is combined with. */
export interface Kind {
  readonly path: Path;
  readonly layout?: 'long' | 'wide';
  readonly survey: Sized;
  /** The SQL endpoint's limit for a result. */
  readonly maxResultBytes: number;
}

const isTable = (path: Path) => path === '/responses/csv' || path === '/responses/xlsx';

const kinds = (survey: Sized, maxResultBytes: number, paths: readonly Path[]): Kind[] =>
  paths.flatMap((path): Kind[] => {
    const kind = { path, survey, maxResultBytes };
    return isTable(path)
      ? [
          { ...kind, layout: 'long' },
          { ...kind, layout: 'wide' },
        ]
      : [kind];
  });

export const KINDS: readonly Kind[] = [
  // A few requests to the database.
  ...kinds('few rows', Infinity, PATHS),
  // Many requests to the database, one after another.
  ...kinds('few rows', 100_000, ['/responses', '/responses/csv', '/responses/ndjson', '/responses/xlsx']),
  // Many requests to the database, in parallel.
  ...kinds('many bytes', Infinity, ['/responses/csv', '/responses/ndjson', '/responses/xlsx']),
  // Many requests in parallel, for pages that several queries plan. Excel takes no texts that long.
  ...kinds('many pages', 500_000, ['/responses/csv', '/responses/ndjson']),
];

/** A request of a kind, with random parameters. */
export function kindOfRequest(random: Random, { path, layout, survey }: Kind, account: Account): Request {
  const ids = new Set(formsOf({ survey }, account.data).map(({ id }) => id));
  const rows = account.data.responses.filter(({ form }) => ids.has(form));
  return { account, path, parameters: randomParameters(random, path, survey, rows, layout) };
}
