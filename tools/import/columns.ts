import { columnNamed, CSV_COLUMNS } from '../../src/responses/columns.ts';
import { isStorable } from '../../src/responses/cursor.ts';
import { shown } from './bad-line.ts';

/** The kind of values in a column. */
interface Kind {
  /** The Postgres type that it is converted to. */
  readonly type: string;
  /**
   * Whether the text in the file is valid: Postgres' own casts accept more, such as `yesterday`,
   * `0x1F` or `1_000`.
   */
  readonly isValid: (text: string) => boolean;
  /** Follows "is not" in messages. */
  readonly expected: string;
  readonly isNullable?: boolean;
}

/** A file that can be imported. */
export interface FileFormat {
  /** Also the name of the option that takes the file. */
  readonly name: 'forms' | 'responses';
  readonly columns: Readonly<Record<string, Kind>>;
  /** Columns that identify a record. */
  readonly key: readonly string[];
  /** Columns of another index, for whose entries their values can be too long. */
  readonly indexed?: readonly string[];
  /** The endpoint that exports it. */
  readonly endpoint: string;
}

const text: Kind = { type: 'text', isValid: () => true, expected: 'text' };

/** How spreadsheets write numbers of more than 11 digits, such as `2.00092E+15`. */
const ROUNDED_NUMBER = /^-?\d([.,]\d+)?e[+]\d{2,}$/i;

const id: Kind = {
  type: 'text',
  isValid: (value) => !ROUNDED_NUMBER.test(value),
  expected: 'an id',
};

const uuid: Kind = {
  type: 'uuid',
  isValid: (value) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value),
  expected: 'a UUID',
};

/** A URL with it has to be short enough for every server on the way. */
const MAX_NAME = 8_000;

const surveyName: Kind = {
  type: 'text',
  isValid: (value) => value !== '' && encodeURIComponent(value).length <= MAX_NAME,
  expected: `a name that a request can have: 1 to ${MAX_NAME} characters, percent-encoded`,
};

/**
 * A time as the API or Postgres prints it, with an offset. The cast checks whether the day exists.
 */
const TIMESTAMP = new RegExp(
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])[T ]([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d' +
    '(\\.\\d{1,6})?(Z|[+-](0\\d|1[0-5])(:?[0-5]\\d)?)$',
);

const timestamp: Kind = {
  type: 'timestamptz',
  isValid: (value) => TIMESTAMP.test(value),
  expected: 'a timestamp such as 2026-03-01T00:03:43.770Z or 2026-03-01 00:03:43.770047+00',
};

/** Only its beginning is checked here: the cast checks the rest. */
const jsonObject: Kind = {
  type: 'jsonb',
  isValid: (value) => /^[ \t\n\r]*\{/.test(value),
  expected: 'a JSON object',
};

function integer(type: 'integer' | 'bigint', min: bigint, max: bigint, expected: string): Kind {
  return {
    type,
    isValid: (value) => /^-?\d{1,19}$/.test(value) && BigInt(value) >= min && BigInt(value) <= max,
    expected,
  };
}

/** The columns of `/responses/form-data`. */
export const formsFile: FileFormat = {
  name: 'forms',
  columns: {
    surveyid: uuid,
    shortcode: text,
    survey_name: surveyName,
    version: integer('integer', 1n, 2n ** 31n - 1n, 'a positive integer'),
    survey_created: timestamp,
    metadata: jsonObject,
  },
  key: ['surveyid'],
  // as in surveys_by_account, whose first column is a UUID as well
  indexed: ['surveyid', 'survey_name'],
  endpoint: '/responses/form-data',
};

const KINDS = {
  uuid,
  text,
  jsonb: jsonObject,
  timestamptz: timestamp,
  bigint: integer('bigint', -(2n ** 63n), 2n ** 63n - 1n, 'a 64-bit integer'),
  integer: integer('integer', -(2n ** 31n), 2n ** 31n - 1n, 'a 32-bit integer'),
};

/** The columns of `/responses/csv`. */
export const responsesFile: FileFormat = {
  name: 'responses',
  columns: Object.fromEntries(
    CSV_COLUMNS.map((name) => {
      const { type, isNullable = false } = columnNamed(name);
      return [name, { ...(name === 'userid' || name === 'pageid' ? id : KINDS[type]), isNullable }];
    }),
  ),
  key: ['surveyid', 'timestamp', 'userid', 'question_ref'],
  endpoint: '/responses/csv',
};

/** Why `value` is not valid in a column; undefined if it is. */
export function reasonForRefusal(
  { columns }: FileFormat,
  name: string,
  value: string | null,
): string | undefined {
  const kind = columns[name];
  if (value === null) return kind?.isNullable ? undefined : `${name}: is empty`;

  if (!isStorable(value)) return `${name}: has a NUL character or half of a surrogate pair`;
  if (kind?.isValid(value)) return undefined;
  if (ROUNDED_NUMBER.test(value))
    return `${name}: ${shown(value)} is a rounded number: the file was saved in a spreadsheet. Import it as it was exported`;
  return `${name}: ${shown(value)} is not ${kind?.expected}${kind?.isNullable ? ' (leave a null empty)' : ''}`;
}
