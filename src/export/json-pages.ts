import { type Cursor, encodeCursor } from '../cursor.ts';
import type { Database, Patience, Row } from '../db/client.ts';
import { JSON_COLUMNS, pageQuery } from '../db/responses.ts';
import type { Range, Selection } from '../db/selection.ts';
import type { Form } from '../db/surveys.ts';
import { versionsOf } from '../db/versions.ts';
import { type JsonField, jsonObject } from '../json.ts';
import { type Page, readFitting } from './fitting.ts';

/** Responses as JSON objects, joined by commas. */
export interface JsonPage extends Page {
  readonly json: string;
  /** The rows' versions: see db/versions.ts. */
  readonly versions: readonly string[];
  /** Whether the range has no rows behind these. */
  readonly complete: boolean;
}

/** A response's members, in the order in which they are sent. */
const FIELDS: readonly JsonField[] = [
  ['parent_surveyid', 'string'],
  ['parent_shortcode', 'string'],
  ['shortcode', 'string'],
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
  ['token', 'string'],
];

const [SURVEYID, USERID, QUESTION_REF, TIMESTAMP] = (['surveyid', 'userid', 'question_ref', 'timestamp'] as const).map(
  (name) => JSON_COLUMNS.indexOf(name),
) as [number, number, number, number];
/** `shortcode`, which comes from the form, stands in front of this column. */
const SHORTCODE_AT = SURVEYID;

/** More than this is not parsed at once, unless it is a single row: 10,000 rows of the usual size are well below. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/** The forms' shortcodes, by id. */
export const shortcodesOf = (forms: readonly Form[]): ReadonlyMap<string, string> =>
  new Map(forms.map(({ id, shortcode }) => [id, shortcode]));

/** Reads the first `range.limit` responses of a range: in one page, unless they are too large for that. */
export async function* readJsonPages(
  db: Database,
  selection: Selection,
  range: Range,
  signal: AbortSignal,
): AsyncGenerator<JsonPage, void, void> {
  const shortcodes = shortcodesOf(selection.forms);
  const read = async (part: Range, patience: Patience) => {
    const maxBytes = part.limit === 1 ? Infinity : MAX_PAGE_BYTES;
    const rows = await db.rows(pageQuery(selection, part, JSON_COLUMNS, { versions: true }), {
      signal,
      maxBytes,
      patience,
    });
    return toPage(rows, shortcodes);
  };

  let rest = range;
  let size = range.limit; // what fitted last time, not what was hoped for
  for (let patience: Patience = 'request'; ; patience = 'export') {
    const { page, limit } = await readFitting((part) => read(part, patience), {
      ...rest,
      limit: Math.min(size, rest.limit),
    });
    const complete = page.rowCount < limit || page.rowCount === rest.limit;
    yield { ...page, complete };
    if (complete) return;
    size = limit;
    rest = { after: page.last, limit: rest.limit - page.rowCount };
  }
}

function toPage(rows: readonly Row[], shortcodes: ReadonlyMap<string, string>): Omit<JsonPage, 'complete'> {
  const last = rows.at(-1);
  return {
    json: jsonRows(rows, shortcodes).join(','),
    versions: versionsOf(rows),
    rowCount: rows.length,
    last: last && cursorOf(last),
  };
}

/**
 * @param rows read with {@link JSON_COLUMNS}; of further columns nothing is taken
 * @param shortcodes of the forms, by id
 * @returns the rows as JSON objects
 */
export function jsonRows(rows: readonly Row[], shortcodes: ReadonlyMap<string, string>): string[] {
  return rows.map((row) => {
    const shortcode = shortcodes.get(row[SURVEYID] as string) ?? null;
    const token = encodeCursor(cursorOf(row));
    return jsonObject(FIELDS, row.slice(0, JSON_COLUMNS.length).toSpliced(SHORTCODE_AT, 0, shortcode).concat(token));
  });
}

export function cursorOf(row: Row): Required<Cursor> {
  const [timestamp, userid, questionRef, surveyid] = [TIMESTAMP, USERID, QUESTION_REF, SURVEYID].map((i) => row[i]);
  return { timestamp, userid, questionRef, surveyid } as Required<Cursor>;
}
