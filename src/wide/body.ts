import type { FilePage } from '../export/read-ahead.ts';
import type { RequestStats } from '../http/request-stats.ts';
import type { QuestionColumns } from './columns.ts';
import { Fold } from './fold.ts';

/** As text a page would be twice as large, and left to the garbage collector: only so many bytes are, at a time. */
const TEXT_BYTES = 32 * 1024;

/**
 * The body of a wide file.
 *
 * @param head the header record
 * @param pages responses with `ANSWER_COLUMNS`, in the order of participants
 * @param stats gets the responses counted that have gone into records
 * @throws ParticipantTooLargeError
 */
export async function* wideBody(
  head: Uint8Array,
  columns: QuestionColumns,
  pages: AsyncIterable<FilePage>,
  stats: Pick<RequestStats, 'rows'>,
): AsyncGenerator<Uint8Array, void, void> {
  const fold = new Fold(columns);
  yield head;
  for await (const page of pages) {
    for (const text of textOf(page.data)) yield* fold.add(text);
    page.release();
    stats.rows += page.rowCount;
  }
  yield* fold.end();
}

function* textOf(bytes: Uint8Array): Generator<string, void, void> {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for (let at = 0; at < bytes.length; at += TEXT_BYTES) {
    yield utf8.decode(bytes.subarray(at, at + TEXT_BYTES), { stream: at + TEXT_BYTES < bytes.length });
  }
}
