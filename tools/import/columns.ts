import { shown } from './bad-line.ts';

/** The kind of values in a column. */
interface Kind {
  /** The Postgres type that it is converted to. */
  readonly type: string;
  /** SQL condition on the text in the file: Postgres' own casts accept more, such as `yesterday`, `0x1F` or `1_000`. */
  readonly isValid: (column: string) => string;
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
}

/** How spreadsheets write numbers of more than 11 digits, such as `2.00092E+15`. Read by both JavaScript and Postgres. */
const ROUNDED_NUMBER = '^-?[0-9]([.,][0-9]+)?[eE][+][0-9]{2,}$';

const text: Kind = { type: 'text', isValid: () => 'true', expected: 'text' };

const id: Kind = { type: 'text', isValid: (column) => `${column} !~ '${ROUNDED_NUMBER}'`, expected: 'an id' };

const uuid: Kind = {
  type: 'uuid',
  isValid: (column) => `${column} ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`,
  expected: 'a UUID',
};

/** As the API or Postgres prints it, with an offset. The cast checks whether the day exists. */
const timestamp: Kind = {
  type: 'timestamptz',
  isValid: (column) =>
    `${column} ~ ('^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]'
      '([.][0-9]{1,6})?(Z|[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?)$')`,
  expected: 'a timestamp such as 2026-03-01T00:03:43.770Z or 2026-03-01 00:03:43.770047+00',
};

/** The cast checks the rest. */
const jsonObject: Kind = {
  type: 'jsonb',
  isValid: (column) => `${column} ~ '^[ \\t\\n\\r]*[{]'`,
  expected: 'a JSON object',
};

function integer(type: 'integer' | 'bigint', min: bigint, max: bigint, expected: string): Kind {
  return {
    type,
    // CASE, because AND may cast before it matches.
    isValid: (column) =>
      `case when ${column} ~ '^-?[0-9]{1,19}$' then ${column}::numeric between ${min} and ${max} else false end`,
    expected,
  };
}

function nullable(kind: Kind): Kind {
  return { ...kind, isNullable: true };
}

/** The columns of `/responses/form-data`. */
export const formsFile: FileFormat = {
  name: 'forms',
  columns: {
    surveyid: uuid,
    shortcode: text,
    survey_name: text,
    version: integer('integer', 1n, 2n ** 31n - 1n, 'a positive integer'),
    survey_created: timestamp,
    metadata: jsonObject,
  },
  key: ['surveyid'],
};

/** The columns of `/responses/csv`. */
export const responsesFile: FileFormat = {
  name: 'responses',
  columns: {
    parent_surveyid: nullable(uuid),
    parent_shortcode: text,
    surveyid: uuid,
    flowid: integer('bigint', -(2n ** 63n), 2n ** 63n - 1n, 'a 64-bit integer'),
    userid: id,
    question_ref: id,
    question_idx: integer('integer', -(2n ** 31n), 2n ** 31n - 1n, 'a 32-bit integer'),
    question_text: text,
    response: text,
    timestamp,
    metadata: nullable(jsonObject),
    ad_id: nullable(id),
    pageid: nullable(id),
    translated_response: nullable(text),
  },
  key: ['surveyid', 'timestamp', 'userid', 'question_ref'],
};

/** SQL expression for the name of a record's first column whose text is not valid, or null. */
export function invalidColumn({ columns }: FileFormat): string {
  const branches = Object.entries(columns).map(([name, { isValid, isNullable }]) => {
    const isMissing = isNullable ? '' : `"${name}" is null or `;
    return `when ${isMissing}not (${isValid(`"${name}"`)}) then '${name}'`;
  });
  return `case ${branches.join('\n')} end`;
}

/** Why `value` is not valid in a column. */
export function reasonForRefusal({ columns }: FileFormat, name: string, value: string | null): string {
  const kind = columns[name];
  if (value === null) return `${name}: is empty${kind?.type === 'text' ? ' (write an empty text as "")' : ''}`;
  if (new RegExp(ROUNDED_NUMBER).test(value)) {
    return (
      `${name}: ${shown(value)} is a long number that a spreadsheet has rounded: export the file again, ` +
      'and import it without saving it in a spreadsheet'
    );
  }
  return `${name}: ${shown(value)} is not ${kind?.expected}`;
}
