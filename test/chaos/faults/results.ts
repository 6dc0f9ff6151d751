import type { Exchange } from '../../support/fault-proxy.ts';

/** Types of queries whose results are altered. */
export const QUERY_TYPES = ['pages', 'page boundaries', 'questions', 'form versions', 'scans'] as const;
export type QueryType = (typeof QUERY_TYPES)[number];

/** The result of a query, as the SQL-over-HTTP endpoint sends it. */
export interface SqlResult {
  readonly fields: readonly unknown[];
  readonly rows: readonly unknown[];
  readonly rowCount: number;
}

/** A result of an undisturbed request. */
export interface Recorded {
  readonly type: QueryType;
  /** The number of queries of this type before it. */
  readonly at: number;
  readonly result: SqlResult;
}

/** By what only the type's SQL contains; undefined for a query whose result is left alone. The first match counts. */
const SIGNS: readonly [RegExp, QueryType | undefined][] = [
  [/\bapi_keys?\b/, undefined],
  [/\bpg_timezone_names\b|\blimit 1\)/, undefined], // whether there is a time zone, or a response
  [/\banswered\b|\blateral\b|select exists|\brecords\b/, 'scans'], // codebooks, summaries, counts, limits of workbooks
  [/min\(question_idx\)/, 'questions'],
  [/row_number\(\) over \(order by/, 'page boundaries'],
  [/from responses\b/, 'pages'],
  [/from surveys\b/, 'form versions'],
];

const typeOf = (query: string): QueryType | undefined => SIGNS.find(([sign]) => sign.test(query))?.[1];

/** Numbers the queries of each type. */
export class QueryCounts {
  readonly #counts = new Map<QueryType, number>();

  /** @returns undefined for a query whose result is left alone */
  next({ query }: Exchange): Pick<Recorded, 'type' | 'at'> | undefined {
    const type = typeOf(query);
    if (!type) return undefined;
    const at = this.#counts.get(type) ?? 0;
    this.#counts.set(type, at + 1);
    return { type, at };
  }
}

/** Whether a result has rows. One row of nulls, but for its last cell, stands for none. */
export const hasRows = ({ rows }: SqlResult): boolean =>
  rows.length > 1 || (rows as (string | null)[][]).some((row) => row.slice(0, -1).some((cell) => cell !== null));

export const parseResult = (body: Buffer): SqlResult => JSON.parse(body.toString()) as SqlResult;
