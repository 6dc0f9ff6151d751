/** A row as Postgres prints it: texts and nulls. */
export type Row = readonly (string | null)[];

/** A query. */
export interface Query {
  /** Its first column is of type text. */
  readonly text: Sql;
  /** The number of its columns. */
  readonly width: number;
  /** A limit that must reach the database as it is. */
  readonly limit?: Value | undefined;
  /** What is read in the same statement: see `withSurvey` in surveys.ts. */
  readonly forms?: {
    /** SQL for a text. */
    readonly sql: Sql;
    /** Gets the text, of a proven result. */
    readonly check: (text: string) => void;
  };
}

type Param = string | number | readonly string[];

/** A value in SQL. In several places, the same object is one parameter. */
export class Value {
  readonly param: Param;

  constructor(param: Param) {
    this.param = param;
  }
}

/** SQL: texts, and between them values and other SQL. */
export class Sql {
  readonly texts: readonly string[];
  readonly parts: readonly (Sql | Value)[];

  constructor(texts: readonly string[], parts: readonly (Sql | Value)[]) {
    this.texts = texts;
    this.parts = parts;
  }
}

/**
 * SQL as it would be typed into psql. Its values become parameters, and false is nothing. A text with
 * a backslash has to be a parameter, since `standard_conforming_strings` decides what it means in
 * SQL.
 */
export const sql = (
  { raw: texts }: TemplateStringsArray,
  ...parts: readonly (Sql | Value | Param | false)[]
): Sql =>
  new Sql(
    texts,
    parts.map((part) => {
      if (part === false) return raw('');
      return part instanceof Sql || part instanceof Value ? part : new Value(part);
    }),
  );

/** SQL from a text that is never user input. */
export const raw = (text: string): Sql => new Sql([text], []);

/** SQL for a list. */
export const join = (list: readonly Sql[], separator = ', '): Sql =>
  list.length === 0 ? raw('') : new Sql(['', ...list.slice(1).map(() => separator), ''], list);

/** SQL for all of at least one condition. */
export const and = (conditions: readonly Sql[]): Sql => join(conditions, ' and ');

/**
 * @returns the text with the parameters `$1`, `$2`, …, numbered in the order in which they first
 * occur
 */
export function render(statement: Sql): { text: string; params: Param[] } {
  const numbers = new Map<Value, number>();
  const textOf = (part: Sql | Value): string => {
    if (part instanceof Sql) return String.raw({ raw: part.texts }, ...part.parts.map(textOf));

    const number = numbers.get(part) ?? numbers.size + 1;
    numbers.set(part, number);
    return `$${number}`;
  };

  return { text: textOf(statement), params: Array.from(numbers.keys(), ({ param }) => param) };
}

/**
 * SQL for a timestamp as the API prints it: UTC, RFC 3339, with three fraction digits, or six if
 * the microseconds are not zero.
 *
 * @param column an expression of type timestamptz; never user input
 */
export const isoTimestamp = (column: string): Sql => {
  const value = raw(column);
  return sql`to_char(${value} at time zone 'UTC', case
    when date_part('microseconds', ${value})::int % 1000 = 0 then 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
    else 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"' end)`;
};
