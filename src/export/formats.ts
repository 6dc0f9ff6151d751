import { CSV_COLUMNS, type Column, JSON_COLUMNS, type PageOptions, keyColumnsOf } from '../db/responses.ts';
import { encodeCsv } from '../encode/csv.ts';
import { LookupValue, TokenValue } from '../encode/json-values.ts';
import { type ObjectFrame, type ObjectLayout, ObjectEncoder } from '../encode/json.ts';
import type { EncodedPage, PageColumns } from '../encode/page.ts';
import { TOKEN_VERSION } from '../responses/cursor.ts';
import type { FormVersion } from '../responses/selection.ts';

/** How pages of responses are read and encoded. */
export interface PageFormat extends PageOptions {
  /** The columns to read, a cursor's among them. */
  readonly columns: readonly Column[];
  /**
   * Encodes the body of a SQL-over-HTTP response, which it may overwrite.
   *
   * @param name the name that the last column must have
   * @param checked whether there is a check column
   * @throws MalformedPageError
   */
  readonly encode: (body: Uint8Array<ArrayBuffer>, name: string, checked: boolean) => EncodedPage;
  /** A larger response is replaced by one of fewer rows, down to a single row. */
  readonly maxPageBytes: number;
  /** A larger row fails as `too-large`. */
  readonly maxRowBytes?: number;
}

/** Limits memory, because several pages of a file are held at a time. */
const MAX_FILE_PAGE_BYTES = 8 * 1024 * 1024;

/** Responses as CSV records, with the positions of their cells if requested. */
export function csvFormat({
  columns = CSV_COLUMNS,
  cells,
  ...options
}: PageOptions &
  Pick<PageColumns, 'cells'> & {
    readonly columns?: readonly Column[];
    readonly maxRowBytes?: number;
  } = {}): PageFormat {
  const pageColumns = { columns: columns.length, keyColumns: keyColumnsOf(columns), cells };
  return {
    ...options,
    columns,
    maxPageBytes: MAX_FILE_PAGE_BYTES,
    encode: (body, name, checked) => encodeCsv(body, { ...pageColumns, checked }, name),
  };
}

/**
 * Responses as JSON objects, as the API describes them.
 *
 * @param formVersions those of the responses
 */
export function jsonFormat(
  formVersions: readonly FormVersion[],
  {
    maxPageBytes = MAX_FILE_PAGE_BYTES,
    order,
    ...frame
  }: ObjectFrame & Pick<PageOptions, 'order'> & { readonly maxPageBytes?: number },
): PageFormat {
  const encoder = new ObjectEncoder({ members: responseMembers(formVersions), ...frame });
  const pageColumns = { columns: JSON_COLUMNS.length, keyColumns: KEY_COLUMNS };
  return {
    columns: JSON_COLUMNS,
    maxPageBytes,
    order,
    encode: (body, name, checked) => encoder.encode(body, { ...pageColumns, checked }, name),
  };
}

const KEY_COLUMNS = keyColumnsOf(JSON_COLUMNS);

function responseMembers(formVersions: readonly FormVersion[]): ObjectLayout['members'] {
  const shortcodes = new Map(formVersions.map(({ id, shortcode }) => [id, shortcode]));
  return [
    ['parent_surveyid', 'string'],
    ['parent_shortcode', 'string'],
    ['shortcode', new LookupValue(shortcodes)], // of the next column
    ['surveyid', 'string'],
    ['flowid', 'string'],
    ['userid', 'string'],
    ['question_ref', 'string'],
    ['question_idx', 'string'],
    ['question_text', 'string'],
    ['response', 'string'],
    ['timestamp', 'string'],
    ['metadata', 'json'],
    ['pageid', 'string'],
    ['translated_response', 'string'],
    ['token', new TokenValue(TOKEN_VERSION, KEY_COLUMNS)],
  ];
}
