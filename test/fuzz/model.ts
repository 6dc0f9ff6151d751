/** A response, and whose it is. */
export interface ModelRow {
  readonly owner: number;
  readonly survey: string;
  readonly form: number;
  readonly surveyid: string;
  readonly shortcode: string;
  readonly timestamp: string;
  readonly userid: string;
  readonly question_ref: string;
  readonly response: string;
}

/** What a request asks for. */
export interface Wish {
  readonly survey: string;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly userid: string | undefined;
  readonly shortcode: string | undefined;
  /** Behind which of all rows, of both accounts. */
  readonly after: number | undefined;
  readonly pageSize: number;
}

/** All that decides the order is ASCII of the same shape, so that every collation has the same. */
function compare(a: ModelRow, b: ModelRow): number {
  for (const name of ['timestamp', 'userid', 'question_ref', 'surveyid'] as const) {
    if (a[name] !== b[name]) return a[name] < b[name] ? -1 : 1;
  }
  return 0;
}

/**
 * What an account may see, without any SQL.
 *
 * @returns undefined when it has no responses of that survey at all
 */
export function visibleTo(
  rows: readonly ModelRow[],
  owner: number,
  { survey, since, until, userid, shortcode }: Wish,
  after: ModelRow | undefined,
): ModelRow[] | undefined {
  const own = rows.filter((row) => row.owner === owner && row.survey === survey);
  if (own.length === 0) return undefined;
  return own
    .filter((row) => since === undefined || row.timestamp >= since)
    .filter((row) => until === undefined || row.timestamp < until)
    .filter((row) => userid === undefined || row.userid === userid)
    .filter((row) => shortcode === undefined || row.shortcode === shortcode)
    .filter((row) => after === undefined || compare(row, after) > 0)
    .toSorted(compare);
}
