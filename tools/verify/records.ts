import { createRecordEnds } from '../../site/shared/csv.ts';
import { Mismatch } from './expect.ts';

/**
 * Reads a CSV file without keeping it in memory, or with `hasQuotes` false an NDJSON file.
 *
 * @returns each record with its LF
 * @throws Mismatch if the file ends within a record
 */
export async function* recordsOf(
  chunks: AsyncIterable<Uint8Array>,
  hasQuotes = true,
): AsyncGenerator<string, void, void> {
  const endsIn = createRecordEnds(hasQuotes);
  let rest = Buffer.alloc(0);
  let number = 1;
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    let start = 0;
    for (const end of endsIn(chunk)) {
      yield bytes.toString('utf8', start, rest.length + end);
      start = rest.length + end;
      number++;
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) throw new Mismatch(`the file ends within record ${number}`);
}
