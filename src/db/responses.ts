import type { Cursor } from '../responses/cursor.ts';
import type { Database, Query } from './client.ts';
import { BY_TIME, type Order, type Value, orderSql } from './order.ts';
import { type Range, type Selection, armConditions } from './selection.ts';
import { isoTimestamp } from './sql.ts';
import type { Form } from './surveys.ts';
import { rowVersion, versionQuery } from './row-versions.ts';

/** The columns of a CSV export, in the order on which scripts depend. */
export const CSV_COLUMNS = [
  'parent_surveyid',
  'parent_shortcode',
  'surveyid',
  'flowid',
  'userid',
  'question_ref',
  'question_idx',
  'question_text',
  'response',
  'timestamp',
  'metadata',
  'ad_id',
  'pageid',
  'translated_response',
] as const;

/** Where columns hold the values of a {@link Cursor}. */
export const keyColumnsOf = (columns: readonly Column[]) =>
  (['timestamp', 'userid', 'question_ref', 'surveyid'] as const).map((name) => columns.indexOf(name));

/** The columns of a row of `/responses` but for `shortcode` and `token`, which the Worker adds. */
export const JSON_COLUMNS = CSV_COLUMNS.filter((name) => name !== 'ad_id');

export type Column = (typeof CSV_COLUMNS)[number];

const VERSION = rowVersion('xmin, r.timestamp, userid, question_ref, surveyid');

/** What spreadsheets run as a formula, or take for the start of one: https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA = String.raw`^[=+\-@\t\r\n＝＋－＠]`;
/** The columns whose text people have typed. The others are ids, times, numbers or JSON, which scripts must find as they are. */
const TYPED_COLUMNS: ReadonlySet<Column> = new Set(['question_text', 'response', 'translated_response']);

/** What a page query may do in another way. */
export interface PageOptions {
  readonly safe?: boolean | undefined;
  readonly order?: Order;
  readonly versions?: boolean;
}

/**
 * The page query: the responses of all forms of a selection, merged in the order (timestamp, userid, question_ref,
 * surveyid), or in another order that an index has.
 *
 * Its cost is that of the rows it returns, whatever the size of the table, the place of the page and the number of
 * forms: each arm walks the order's index from the cursor on, and Postgres merges the arms (Merge Append) and
 * stops at the limit. For that an arm must stand parenthesised in the set operation itself, with its own ORDER BY, and
 * with its own LIMIT, without which the planner believes that all of it will be read and sorts instead. The last sort
 * key differs only where rows of two forms tie in the other three: an Incremental Sort over a handful of rows.
 *
 * @param options.safe puts an apostrophe before what a spreadsheet would run as a formula
 * @param options.versions adds each row's version, as the last column
 */
export function pageQuery(
  selection: Selection,
  range: Range,
  columns: readonly Column[],
  { safe = false, order = BY_TIME, versions = false }: PageOptions = {},
): Query {
  const { merged, params } = mergedRows(selection, range, versions ? '*, xmin' : '*', order);
  const list = columns.map((column) => (safe ? safeColumnSql(column) : columnSql(column)));
  if (versions) list.push(VERSION);
  const text = `select ${list.join(', ')} from (${merged}) r order by ${orderSql(order, 'r')}, surveyid`;
  return { text, params, columns: list.length };
}

/** For the version of the page that {@link pageQuery} reads, without what makes its rows large. */
export function pageVersionQuery(selection: Selection, range: Range): Query {
  const key = 'timestamp, userid, question_ref, surveyid';
  const { merged, params } = mergedRows(selection, range, `${key}, xmin`, BY_TIME);
  return versionQuery({ text: `select ${VERSION} as version, ${key} from (${merged}) r`, params }, key);
}

/**
 * The borders of the pages to come: the last key of every `pageRows` rows of the range. A walk along the index alone,
 * at a fraction of what the rows themselves cost. The rows behind the last border have none.
 */
export function borderQuery(selection: Selection, range: Range, pageRows: number, order: Order = BY_TIME): Query {
  const { merged, params } = mergedRows(selection, range, 'surveyid, timestamp, userid, question_ref', order);
  const text = `
    select ${isoTimestamp('timestamp')}, userid, question_ref, surveyid
    from (select *, row_number() over (order by ${orderSql(order)}, surveyid) as n from (${merged}) k) k
    where n % $${params.length + 1} = 0
    order by ${orderSql(order, 'k')}, surveyid`;
  return { text, params: [...params, pageRows], columns: 4 };
}

/** How many responses of a selection stand behind a cursor, or all of them: counted along the index alone. */
export function countQuery(selection: Selection, after: Cursor | undefined): Query {
  const params: Value[] = [];
  const arms = armConditions(selection, { after }, params, BY_TIME).map(
    (where) => `select from responses where ${where}`,
  );
  return { text: `select count(*) from (${arms.join('\nunion all\n')}) k`, params, columns: 1 };
}

/** Whether any form of the survey has a response. */
export async function hasResponses(db: Database, forms: readonly Form[], signal: AbortSignal): Promise<boolean> {
  const text = `
    select 1 from unnest($1::uuid[]) form (id)
    where exists (select from responses where surveyid = form.id) limit 1`;
  const rows = await db.rows({ text, params: [forms.map((form) => form.id)], columns: 1 }, { signal });
  return rows.length > 0;
}

/** What {@link countQuery} counts. */
export async function countResponses(
  db: Database,
  selection: Selection,
  after: Cursor | undefined,
  signal: AbortSignal,
): Promise<number> {
  const [row] = await db.rows(countQuery(selection, after), { signal, patience: 'walk' });
  return Number(row?.[0]);
}

function columnSql(column: Column): string {
  if (column === 'timestamp') return `${isoTimestamp('r.timestamp')} as timestamp`;
  if (column === 'ad_id') return `metadata->>'ad_id' as ad_id`;
  return column;
}

function safeColumnSql(column: Column): string {
  if (!TYPED_COLUMNS.has(column)) return columnSql(column);
  return `case when ${column} ~ '${FORMULA}' then '''' || ${column} else ${column} end as ${column}`;
}

function mergedRows(selection: Selection, range: Range, columns: string, order: Order) {
  const params: Value[] = [range.limit];
  const arms = armConditions(selection, range, params, order).map(
    (where) => `(select ${columns} from responses where ${where} order by ${orderSql(order)} limit $1)`,
  );
  const merging = arms.length > 1 ? ` order by ${orderSql(order)}, surveyid limit $1` : '';
  return { merged: arms.join('\nunion all\n') + merging, params };
}
