import { type ColumnName, columnNamed } from '../responses/columns.ts';
import { CURSOR_COLUMNS, type Cursor } from '../responses/cursor.ts';
import type { Range, Selection } from '../responses/selection.ts';
import { IS_LETTER, LETTER, labelsOf } from './choices.ts';
import { rangeRows } from './branches.ts';
import type { Database } from './database.ts';
import { withoutFormulas } from './formulas.ts';
import { BY_TIME, type Order, type Position, orderSql, typedValue } from './order.ts';
import { TIME_ROOM } from '../encode/time.ts';
import { relationOf } from './relation.ts';
import { type Query, type Sql, Value, isoTimestamp, join, raw, sql } from './sql.ts';

/** A column of a page: one of the table, or SQL. */
export type Column = ColumnName | ComputedColumn;
export interface ComputedColumn {
  readonly sql: Sql;
  /** Whether people typed the text: see columns.ts. */
  readonly isTyped?: true | undefined;
  /** What a labelled answer is where there is no label. */
  readonly unlabelled?: Sql;
}

/**
 * The text of a key of the metadata; null if it is not there. A participant can choose it where it
 * comes from a URL.
 */
export const metadataValue = (key: string): ComputedColumn => typed(sql`(metadata->>${key}::text)`);

const typed = (text: Sql): ComputedColumn => ({ sql: text, isTyped: true });

/** SQL for whether the metadata lack a key, or have null for it. */
export const lacksKey = (key: string): Sql => sql`metadata->>${key}::text is null`;

/** `t` if the metadata lack one of these keys, otherwise `f`. */
export const lacksMetadata = (keys: readonly string[]): ComputedColumn => ({
  sql: join(keys.map(lacksKey), ' or '),
});

/** The question, if it is one of these; otherwise null. */
export const questionAmong = (questions: readonly string[]): ComputedColumn => ({
  sql: sql`case when question_ref = any(${questions}) then question_ref end`,
});

/**
 * The seed from which treatment arms are computed, as ten digits; null if the metadata have none
 * that is an integer of 32 bits.
 */
export const seed: ComputedColumn = {
  sql: sql`
    case when metadata->>'seed' ~ '^(0|[1-9][0-9]{0,9})$' and lpad(metadata->>'seed', 10, '0') <= '4294967295' collate "C"
      then lpad(metadata->>'seed', 10, '0') end`,
};

const TRANSLATED = sql`coalesce(translated_response, response)`;
/** The label of a response that is a choice. Needs {@link labelsCte}. */
const LABEL = sql`case when ${IS_LETTER} then (select by_text from labels)->question_text->>${LETTER} end`;

const RESPONSE = sql`response`;
const labelled = (unlabelled: Sql): ComputedColumn => ({
  ...typed(sql`coalesce(${LABEL}, ${unlabelled})`),
  unlabelled,
});

/** What the parameter `value` takes for the text of an answer. */
export const ANSWERS = {
  response: typed(RESPONSE),
  translated: typed(TRANSLATED),
  translated_label: labelled(TRANSLATED),
  label: labelled(RESPONSE),
};

/**
 * A common table expression for the labels of choices, which labelled answers of `rows` need. They
 * are found once for each text of a question.
 */
const labelsCte = (rows: Sql): Sql => sql`
  labels as materialized (
    select jsonb_object_agg(asked, labels) as by_text
    from (select distinct question_text collate "C" as asked from ${rows} where ${IS_LETTER}) question,
      lateral (${labelsOf(sql`asked`)}) found
  )`;

/** The common table expressions that an answer to each of `rows` needs. */
export const answerCtes = ({ unlabelled }: ComputedColumn, rows: Sql): Sql[] =>
  unlabelled ? [labelsCte(sql`(select question_text, response from ${rows}) response`)] : [];

/** SQL for columns of the rows `r`, which need the common table expression `form`. */
function selectColumns(columns: readonly Column[], form: Sql, rows: Sql, safe: boolean): Sql {
  const read = columns.map(computed);
  const texts = read.map(({ sql: text, isTyped }) => withoutFormulas(text, safe && isTyped));
  // as text, since the last row has a text there
  const list = join([sql`(${texts[0] ?? sql`null`})::text`, ...texts.slice(1)]);
  if (!read.some(({ unlabelled }) => unlabelled))
    return sql`with ${form} select ${list} from (${rows}) r`;
  return sql`with ${form}, page as materialized (${rows}), ${labelsCte(sql`page`)} select ${list} from page r`;
}

/** The indexes of {@link CURSOR_COLUMNS}. */
export const keyColumnsOf = (columns: readonly Column[]) =>
  CURSOR_COLUMNS.map((name) => columns.indexOf(name));

export interface PageOptions {
  /** Puts an apostrophe wherever a spreadsheet could run a text as a formula. */
  readonly safe?: boolean | undefined;
  /** {@link BY_TIME} unless given. */
  readonly order?: Order | undefined;
}

/**
 * The page query: the responses of a range, in order.
 *
 * Its cost depends on the rows it returns, and for many form versions on their number, but not on
 * the size of the table or the page's position. The few form versions of most surveys are merged:
 * each branch walks the order's index from the cursor; Postgres merges the branches (Merge Append)
 * and stops at the limit. For this, each branch must be parenthesised in the set operation itself,
 * with its own ORDER BY and LIMIT: without the LIMIT, the planner expects to read the whole branch,
 * and sorts. The final sort by surveyid is an Incremental Sort over the few rows that tie in the
 * other columns.
 */
export function pageQuery(
  selection: Selection,
  range: Range,
  columns: readonly Column[],
  { safe = false, order = BY_TIME }: PageOptions = {},
): Query {
  const limit = new Value(range.limit);
  const rows = rangeRows(selection, range, limit, raw('*'), order);
  const page = selectColumns(columns, relationOf(selection).forms, rows, safe);
  const text = sql`${page} order by ${orderSql(order, 'r.')}`;
  return { text, width: columns.length, limit };
}

/**
 * The page boundaries after a position: the positions of every `pageRows`th row, `count` at most.
 * The query reads only the index, at a fraction of the cost of the rows. It finds each boundary
 * from the one before, which takes half the time of numbering all rows.
 */
export function boundaryQuery(
  selection: Selection,
  after: Cursor,
  pageRows: number,
  count: number,
  order: Order = BY_TIME,
): Query {
  const limit = new Value(pageRows);
  const key = raw(CURSOR_COLUMNS.join(', '));
  const start = CURSOR_COLUMNS.map((name) => typedValue(name, after));
  const last = Object.fromEntries(CURSOR_COLUMNS.map((name) => [name, raw(`boundary.${name}`)]));
  const rows = rangeRows(selection, { after: last as Required<Position> }, limit, key, order);
  const text = sql`
    with recursive ${relationOf(selection).forms}, boundary (number, ${key}) as (
      select 0, ${join(start)}
      union all
      select number + 1, row.*
      from boundary, lateral (
        select * from (${rows}) row order by ${orderSql(order)} offset ${limit}::bigint - 1
      ) row
      where number < ${raw(String(count))}
    )
    select ${isoTimestamp('timestamp')}, userid, question_ref, surveyid
    from boundary
    where number > 0
    order by number`;
  return { text, width: CURSOR_COLUMNS.length, limit };
}

/** Runs a query that counts responses or records, in its only row. */
export async function readCount(
  db: Database,
  query: Query,
  kind: 'walk' | 'scan' = 'walk',
): Promise<number> {
  const [[count]] = (await db.rows(query, { kind })) as [[string]];
  return Number(count);
}

/** SQL for a column of the rows `r`. */
export function computed(column: Column): ComputedColumn {
  if (typeof column !== 'string') return column;
  const { type, isTyped, sql: expression = column } = columnNamed(column);
  return type === 'timestamptz'
    ? {
        sql: sql`(${raw(`r.${column}`)} at time zone 'UTC')::text || '${raw(' '.repeat(TIME_ROOM))}'`,
      }
    : { sql: raw(expression), isTyped };
}
