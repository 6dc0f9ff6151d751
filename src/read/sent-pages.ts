import type { HeldPage } from '../db/client.ts';
import type { AppEnv } from '../http/context.ts';

/** Yields the pages that have rows. Counts their rows, and frees each page's memory before the next one is read. */
export async function* sentPages<Page extends HeldPage>(
  pages: AsyncIterable<Page>,
  { stats }: Pick<AppEnv['Variables'], 'stats'>,
): AsyncGenerator<Page, void, void> {
  for await (const page of pages) {
    if (page.rowCount > 0) yield page;
    page.release();
    stats.rows += page.rowCount;
  }
}
