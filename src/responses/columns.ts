/*
 * The columns of a response, each described once: what is read from the table, in which bodies it
 * is, and how the API describes it.
 */

interface ColumnDescription {
  readonly name: string;
  /** A type of Postgres. */
  readonly type: 'uuid' | 'bigint' | 'integer' | 'text' | 'timestamptz' | 'jsonb';
  readonly isNullable?: true;
  /**
   * Whether people typed the text, or it came with a link to the survey: `safe` changes it. The
   * others are ids, times, numbers and JSON, which scripts need unchanged.
   */
  readonly isTyped?: true;
  /**
   * The expression to read, if it is not the column of that name: SQL on a response and `form` (see
   * db/relation.ts).
   */
  readonly sql?: string;
  /** Where it comes from, if not from the response: the form version, or the Worker. */
  readonly from?: 'form' | 'worker';
  /** The bodies that have it, unless all have. */
  readonly bodies?: readonly ('csv' | 'json' | 'digest')[];
  readonly description?: string;
  /** A regular expression that the text matches, besides its type. */
  readonly pattern?: string;
  /** Of the demo data. */
  readonly example: unknown;
}

/** In the order in which scripts depend on them. */
const COLUMNS = [
  {
    name: 'parent_surveyid',
    type: 'uuid',
    isNullable: true,
    description: 'The form version that the participant started with.',
    example: 'af5021fe-2279-44fe-8f9e-3980edfc0fe7',
  },
  {
    name: 'parent_shortcode',
    type: 'text',
    description: 'The shortcode of the form that the participant started with.',
    example: 'healthstart',
  },
  {
    name: 'shortcode',
    type: 'text',
    from: 'form',
    sql: `(select jsonb_object_agg(id, shortcode) from form)->>surveyid::text`,
    bodies: ['json', 'digest'],
    description: 'The shortcode of the form that was answered.',
    example: 'healthstart',
  },
  {
    name: 'surveyid',
    type: 'uuid',
    description: 'The form version that was answered.',
    example: 'af5021fe-2279-44fe-8f9e-3980edfc0fe7',
  },
  {
    name: 'flowid',
    type: 'bigint',
    description: 'An integer, as a string.',
    example: '1600000000850',
  },
  {
    name: 'userid',
    type: 'text',
    description: 'Identifies the participant.',
    example: '9272908327168660',
  },
  {
    name: 'question_ref',
    type: 'text',
    description: 'Identifies the question.',
    example: 'consent',
  },
  {
    name: 'question_idx',
    type: 'integer',
    description: 'Index of the question in the form: an integer, as a string.',
    example: '0',
  },
  {
    name: 'question_text',
    type: 'text',
    isTyped: true,
    description: 'Text of the question.',
    example: 'Do you want to take part?',
  },
  { name: 'response', type: 'text', isTyped: true, description: 'The answer.', example: 'Ndiyo' },
  {
    name: 'timestamp',
    type: 'timestamptz',
    description:
      'When the answer was given, in UTC. Six fraction digits if the microseconds are not zero, else three.',
    example: '2026-01-06T06:00:00.000Z',
  },
  {
    name: 'metadata',
    type: 'jsonb',
    isNullable: true,
    description:
      'Numbers keep every stored digit. A parser that reads them as doubles can lose some.',
    example: { cluster: 'cluster 12', language: 'sw' },
  },
  {
    name: 'ad_id',
    type: 'text',
    isNullable: true,
    isTyped: true,
    sql: `(metadata->>'ad_id')`,
    bodies: ['csv'],
    example: null,
  },
  { name: 'pageid', type: 'text', isNullable: true, isTyped: true, example: '104882517369924467' },
  { name: 'translated_response', type: 'text', isNullable: true, isTyped: true, example: 'Yes' },
  {
    name: 'token',
    type: 'text',
    from: 'worker',
    bodies: ['json'],
    pattern: '^[A-Za-z0-9_-]+$',
    description:
      'The cursor of this response, for the parameter `after`. Opaque; stays valid across deployments.',
    example:
      'WzEsIjIwMjYtMDEtMDZUMDY6MDA6MDAuMDAwWiIsIjkyNzI5MDgzMjcxNjg2NjAiLCJjb25zZW50IiwiYWY1MDIxZmUtMjI3OS00NGZlLThmOWUtMzk4MGVkZmMwZmU3Il0',
  },
] as const satisfies readonly ColumnDescription[];

export type ColumnName = (typeof COLUMNS)[number]['name'];
/** A column of a response. */
type ResponseColumn = ColumnDescription & { readonly name: ColumnName };

const all: readonly ResponseColumn[] = COLUMNS;
const columnsOf = (body: 'csv' | 'json' | 'digest') =>
  all.filter(({ bodies }) => bodies?.includes(body) ?? true);
const namesOf = (columns: readonly ResponseColumn[]) => columns.map(({ name }) => name);

export const columnNamed = (name: ColumnName) =>
  all.find((column) => column.name === name) as ResponseColumn;

/** The columns that are stored with a response. */
export const STORED_COLUMNS = namesOf(all.filter(({ from, sql }) => !from && !sql));
/** The columns of a CSV file. */
export const CSV_COLUMNS = namesOf(columnsOf('csv'));
/** The members of a JSON object. */
export const JSON_MEMBERS = columnsOf('json');
/** The columns that are read for a JSON object. */
export const JSON_COLUMNS = namesOf(JSON_MEMBERS.filter(({ from }) => from !== 'worker'));
/** The fields of a digest. */
export const DIGEST_FIELDS = columnsOf('digest');
