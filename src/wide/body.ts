import { logFailure } from '../log.ts';
import type { FilePage } from '../export/csv-reader.ts';
import type { QuestionColumns } from './columns.ts';
import { Fold } from './fold.ts';
import { ParticipantTooLargeError } from './participant.ts';

/** As text a page would be twice as large, and left to the garbage collector: only so many bytes are, at a time. */
const TEXT_BYTES = 32 * 1024;

/**
 * The body of a wide file.
 *
 * @param head the header record
 * @param pages responses with `ANSWER_COLUMNS`, in the order of participants
 * @throws ParticipantTooLargeError, which is logged, since a client sees a broken transfer only
 */
export async function* wideBody(
  head: Uint8Array,
  columns: QuestionColumns,
  pages: AsyncIterable<FilePage>,
  requestId: string,
): AsyncGenerator<Uint8Array, void, void> {
  const fold = new Fold(columns);
  yield head;
  try {
    for await (const page of pages) {
      for (const text of textOf(page.data)) yield* fold.add(text);
      page.release();
    }
    yield* fold.end();
  } catch (error) {
    if (error instanceof ParticipantTooLargeError) logFailure('export failed', { requestId, error: error.message });
    throw error;
  }
}

function* textOf(bytes: Uint8Array): Generator<string, void, void> {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for (let at = 0; at < bytes.length; at += TEXT_BYTES) {
    yield utf8.decode(bytes.subarray(at, at + TEXT_BYTES), { stream: at + TEXT_BYTES < bytes.length });
  }
}
