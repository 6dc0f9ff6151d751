import { sha256Hex } from '../encode/sha256.ts';
import type { Database, Query, Row } from './client.ts';

/** What a list of rows is at a moment. */
export interface ListVersion {
  readonly rowCount: number;
  /** Of the rows' versions, in order. */
  readonly digest: string;
}

/**
 * A row's version, as SQL: a number that is another one once the row has changed, without a look at what it holds.
 *
 * A row that is changed is written anew, by a transaction of its own: of a row with a given key, no two states that anybody
 * has seen have the same `xmin`. That holds within one history of the database. One that is restored from a backup goes on
 * from an earlier point and gives the same numbers to other transactions; but for that, the server has to be started again.
 * https://www.postgresql.org/docs/current/ddl-system-columns.html
 *
 * @param columns `xmin`, and the columns of a key: `vacuum full` moves rows to where others have been, so that their
 *   place (`ctid`) would not do
 */
export const rowVersion = (columns: string) =>
  `hash_record_extended(row(pg_postmaster_start_time(), ${columns}), 0)::text`;

/**
 * The query for a list's version alone.
 *
 * @param rows a query for `version` and for the columns of `order`
 */
export function versionQuery({ text, params }: Query, order: string): Query {
  const versions = `coalesce(string_agg(version, ',' order by ${order}), '')`;
  return {
    text: `select count(*), encode(sha256(convert_to(${versions}, 'UTF8')), 'hex') from (${text}) v`,
    params,
    columns: 2,
  };
}

/** @param query a {@link versionQuery} */
export async function findListVersion(db: Database, query: Query, signal: AbortSignal): Promise<ListVersion> {
  const [row] = await db.rows(query, { signal });
  const [rowCount, digest] = row as [string, string];
  return { rowCount: Number(rowCount), digest };
}

/** @param rows with their version as the last column */
export const versionsOf = (rows: readonly Row[]) => rows.map((row) => row.at(-1) as string);

/** The same of rows that have been read, by their versions. */
export async function listVersionOf(versions: readonly string[]): Promise<ListVersion> {
  return { rowCount: versions.length, digest: await sha256Hex(versions.join(',')) };
}
