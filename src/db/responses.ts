import type { Cursor } from '../cursor.ts';
import type { Database, Query } from './client.ts';
import { isoTimestamp } from './sql.ts';
import type { Form } from './surveys.ts';

/** A stretch of a survey's responses: those behind `after`, up to and including `upTo`, the first `limit` of them. */
export interface Range {
  readonly after?: Cursor | undefined;
  readonly upTo?: Required<Cursor> | undefined;
  readonly limit: number;
}

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

/** Where the export's columns hold the values of a {@link Cursor}. */
export const CSV_KEY_COLUMNS = ['timestamp', 'userid', 'question_ref', 'surveyid'].map((name) =>
  (CSV_COLUMNS as readonly string[]).indexOf(name),
);

/** The columns of a row of `/responses` but for `shortcode` and `token`, which the Worker adds. */
export const JSON_COLUMNS = CSV_COLUMNS.filter((name) => name !== 'ad_id');

type Column = (typeof CSV_COLUMNS)[number];

/**
 * The page query: the responses of all forms of a survey, merged in the order (timestamp, userid, question_ref,
 * surveyid).
 *
 * Its cost is that of the rows it returns, whatever the size of the table, the place of the page and the number of
 * forms: each arm walks the primary key's index from the cursor on, and Postgres merges the arms (Merge Append) and
 * stops at the limit. For that an arm must stand parenthesised in the set operation itself, with its own ORDER BY, and
 * with its own LIMIT, without which the planner believes that all of it will be read and sorts instead. The last sort
 * key differs only where rows of two forms tie in the other three: an Incremental Sort over a handful of rows.
 */
export function pageQuery(forms: readonly Form[], range: Range, columns: readonly Column[]): Query {
  const { merged, params } = mergedRows(forms, range, '*');
  const list = columns.map(columnSql).join(', ');
  return { text: `select ${list} from (${merged}) r order by r.timestamp, userid, question_ref, surveyid`, params };
}

/**
 * The borders of the pages to come: the last key of every `pageRows` rows of the range. A walk along the index alone,
 * at a fraction of what the rows themselves cost. The rows behind the last border have none.
 */
export function borderQuery(forms: readonly Form[], range: Range, pageRows: number): Query {
  const { merged, params } = mergedRows(forms, range, 'surveyid, timestamp, userid, question_ref');
  const text = `
    select ${isoTimestamp('timestamp')}, userid, question_ref, surveyid
    from (select *, row_number() over (order by timestamp, userid, question_ref, surveyid) as n from (${merged}) k) k
    where n % $${params.length + 1} = 0
    order by k.timestamp, userid, question_ref, surveyid`;
  return { text, params: [...params, pageRows] };
}

/** Whether any form of the survey has a response. */
export async function hasResponses(db: Database, forms: readonly Form[], signal: AbortSignal): Promise<boolean> {
  const text = `
    select 1 from unnest($1::uuid[]) form (id)
    where exists (select from responses where surveyid = form.id) limit 1`;
  const rows = await db.rows({ text, params: [forms.map((form) => form.id)] }, { signal });
  return rows.length > 0;
}

function columnSql(column: Column): string {
  if (column === 'timestamp') return `${isoTimestamp('r.timestamp')} as timestamp`;
  if (column === 'ad_id') return `metadata->>'ad_id' as ad_id`;
  return column;
}

function mergedRows(forms: readonly Form[], range: Range, columns: string) {
  const params: (string | number)[] = [range.limit];
  const add = (value: string) => `$${params.push(value)}`;
  const keyOf = (cursor: Cursor) =>
    `(${add(cursor.timestamp)}::timestamptz, ${add(cursor.userid)}, ${add(cursor.questionRef)})`;

  const after = range.after && keyOf(range.after);
  const upTo = range.upTo && keyOf(range.upTo);
  const arms = forms.map(({ id }) => {
    // Within one form the first three values are unique, so a row that ties with the cursor in them is behind it, or
    // before it, as its form is. Postgres and JavaScript agree on the order of UUIDs in lower-case hexadecimal.
    const conditions = [`surveyid = ${add(id)}`];
    if (after) {
      const behind = range.after?.surveyid === undefined || id <= range.after.surveyid ? '>' : '>=';
      conditions.push(`(timestamp, userid, question_ref) ${behind} ${after}`);
    }
    if (upTo) {
      const within = id <= (range.upTo?.surveyid ?? '') ? '<=' : '<';
      conditions.push(`(timestamp, userid, question_ref) ${within} ${upTo}`);
    }
    return `(select ${columns} from responses where ${conditions.join(' and ')} order by timestamp, userid, question_ref limit $1)`;
  });
  const order = forms.length > 1 ? ' order by timestamp, userid, question_ref, surveyid limit $1' : '';
  return { merged: arms.join('\nunion all\n') + order, params };
}
