import { logFailure } from '../log.ts';
import type { FilePage } from '../export/csv-reader.ts';
import type { QuestionColumns } from './columns.ts';
import { Fold } from './fold.ts';
import { ParticipantTooLargeError } from './participant.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

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
      const text = utf8.decode(page.data);
      page.release();
      yield* fold.add(text);
    }
    yield* fold.end();
  } catch (error) {
    if (error instanceof ParticipantTooLargeError) logFailure('export failed', { requestId, error: error.message });
    throw error;
  }
}
