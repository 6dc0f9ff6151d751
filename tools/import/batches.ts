/** Rows a statement, and UTF-16 units of text a statement: whichever is reached first. */
const MAX_ROWS = 2_000;
const MAX_SIZE = 1024 * 1024;

/**
 * Regroups rows into batches that one statement can carry: bounded by bytes as well as by rows, since a single answer
 * may have a megabyte. A row larger than the bound is a batch of its own.
 */
export async function* inBatches<R extends { size: number }>(pieces: AsyncIterable<R[]>): AsyncGenerator<R[], void> {
  let batch: R[] = [];
  let size = 0;
  for await (const piece of pieces) {
    for (const row of piece) {
      if (batch.length === MAX_ROWS || (batch.length > 0 && size + row.size > MAX_SIZE)) {
        yield batch;
        batch = [];
        size = 0;
      }
      batch.push(row);
      size += row.size;
    }
  }
  if (batch.length > 0) yield batch;
}
