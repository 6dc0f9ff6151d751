import type { AppEnv } from '../http/context.ts';
import type { Page } from './page-reader.ts';

/** While a transfer runs, its key is checked again before a page if the last check is older than this. */
const KEY_CHECK_MS = 10_000;

/**
 * Yields the pages that have rows. Counts their rows, frees each page's memory before the next one is read, and checks from time to
 * time that the key is still valid.
 */
export async function* sentPages(
  pages: AsyncIterable<Page>,
  { stats, checkKey }: Pick<AppEnv['Variables'], 'stats' | 'checkKey'>,
): AsyncGenerator<Page, void, void> {
  let checked = Date.now();
  for await (const page of pages) {
    if (Date.now() - checked >= KEY_CHECK_MS) {
      await checkKey();
      checked = Date.now();
    }
    if (page.rowCount > 0) yield page;
    page.release();
    stats.rows += page.rowCount;
  }
}
