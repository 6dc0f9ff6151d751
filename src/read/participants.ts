import { LF } from '../encode/ascii.ts';
import type { Database } from '../db/database.ts';
import { participantsQuery } from '../db/participants.ts';
import { objectEncoder } from '../encode/json.ts';
import type { Range, Selection } from '../responses/selection.ts';
import { readFitting } from './read-fitting.ts';

/** How much of the list of participants is held at a time, beside a page in the slot of the file. */
const LIST_BYTES = 512 * 1024;
/**
 * What a participant takes in it at first; then, what those of the last list took, and some more,
 * since one that does not fit is read again.
 */
const ROW_BYTES = 80;
const MARGIN = 1.1;
/**
 * A batch takes a query that walks at most so many responses, unless they are those of one
 * participant.
 */
export const MAX_WALKED = 80_000;

const encode = objectEncoder({
  members: [
    ['id', 'string'],
    ['responses', 'json'],
    ['walked', 'json'],
  ],
  keyColumns: [0],
  after: '\n',
});

/**
 * Finds the participants of a selection in the order of their pseudonyms, which no index has. Each
 * list takes a scan, and is held until its last batch has been taken.
 *
 * @param most the number of responses of the next batch, unless they are those of one participant
 * @returns ranges, which follow each other in this order
 */
export async function* participantBatches(
  db: Database,
  selection: Selection,
  secret: string,
  most: () => number,
): AsyncGenerator<Range & { readonly isLast: boolean }, void, void> {
  const newBatch = () => ({ ids: [] as string[], responses: 0, walked: 0 });
  let batch = newBatch();
  let maxWalked = Infinity; // the first batch decides whether the responses fit one page
  let after: string | undefined;
  /** The batch. Unless some rows were stored since, there is not one response more than it has. */
  const range = (isLast: boolean) => ({
    participants: batch.ids.toSorted(), // an index is searched for them fastest in its own order
    windowSize: batch.walked,
    limit: Math.min(batch.responses, most()) + 1,
    isLast,
  });
  for (let rowBytes = ROW_BYTES; ;) {
    const list = await readFitting(Math.ceil(LIST_BYTES / rowBytes), (limit) => {
      const options = { isLong: true, maxBytes: LIST_BYTES, canShrink: limit > 1 };
      const query = participantsQuery(selection, secret, limit, after);
      return db.page(query, { kind: 'file', ...options }, encode);
    });
    for (const { id, responses, walked } of participantsIn(list.data)) {
      // each form version is searched for each participant
      const cost = Math.max(walked, selection.formVersions.length);
      const isFull = batch.responses + responses > most() || batch.walked + cost > maxWalked;
      if (isFull && batch.ids.length > 0) {
        yield range(false);
        maxWalked = MAX_WALKED;
        batch = newBatch();
      }
      batch.ids.push(id);
      batch.responses += responses;
      batch.walked += cost;
    }
    [after] = list.lastKey as string[];
    rowBytes = (MARGIN * list.bytes) / list.rowCount;
    list.release();
    if (list.rowCount < list.requestedRows) break;
  }
  yield range(true);
}

function* participantsIn(data: Uint8Array) {
  const utf8 = new TextDecoder();
  for (let start = 0; start < data.length;) {
    const end = data.indexOf(LF, start);
    yield JSON.parse(utf8.decode(data.subarray(start, end))) as {
      id: string;
      responses: number;
      walked: number;
    };
    start = end + 1;
  }
}
