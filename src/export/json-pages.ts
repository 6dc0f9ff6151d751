import { free } from '../encode/bytes.ts';
import type { Database, Patience } from '../db/client.ts';
import { JSON_COLUMNS, pageQuery } from '../db/responses.ts';
import type { Range, Selection } from '../db/selection.ts';
import { placeOf } from './borders.ts';
import { type SizedPage, readFitting, rowsAfter } from './fitting.ts';
import { KEY_COLUMNS, responseEncoder } from './response-objects.ts';

/** Responses as JSON objects, each behind a comma. */
export interface JsonPage extends SizedPage {
  readonly json: Uint8Array<ArrayBuffer>;
  /** The rows' versions: see db/row-versions.ts. */
  readonly versions: readonly string[];
  /** Whether the range has no rows behind these. */
  readonly complete: boolean;
}

/** More than this is not taken into memory at once, unless it is a single row: 10,000 rows of the usual size are well below. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/** Reads the first `range.limit` responses of a range: in one page, unless they are too large for that. */
export async function* readJsonPages(
  db: Database,
  selection: Selection,
  range: Range,
  signal: AbortSignal,
): AsyncGenerator<JsonPage, void, void> {
  const encoder = responseEncoder(selection.forms, { before: ',' });
  const columns = {
    columns: JSON_COLUMNS.length + 1,
    keyColumns: KEY_COLUMNS,
    versionColumn: JSON_COLUMNS.length,
  };
  const read = (part: Range, patience: Patience) => {
    const maxBytes = part.limit === 1 ? Infinity : MAX_PAGE_BYTES;
    const query = pageQuery(selection, part, JSON_COLUMNS, { versions: true });
    return db.bytes(query, { signal, maxBytes, patience }, (body) => {
      const { lastKey, ...page } = encoder.encode(body, columns);
      free(body);
      return { ...page, last: placeOf(lastKey), bytes: page.json.length };
    });
  };

  let rest = range;
  let rows = range.limit;
  for (let patience: Patience = 'request'; ; patience = 'export') {
    const limit = Math.min(rows, rest.limit);
    const part = await readFitting((one) => read(one, patience), { ...rest, limit });
    const { page } = part;
    const complete = page.rowCount < part.limit || page.rowCount === rest.limit;
    yield { ...page, complete };
    if (complete) return;
    rows = rowsAfter(part);
    rest = { after: page.last, limit: rest.limit - page.rowCount };
  }
}
