import { notInWide, onlyInWide } from './errors.ts';

/** The parameters that depend on the layout of a table. */
interface LayoutQuery {
  readonly layout?: 'long' | 'wide' | undefined;
  readonly after?: unknown;
  readonly count?: unknown;
  readonly value?: unknown;
  readonly repeats?: unknown;
  readonly require_metadata?: unknown;
  readonly columns?: unknown;
}

/** @throws ApiError 400 for a parameter that the layout does not support */
export function checkLayout(query: LayoutQuery): void {
  if (query.layout !== 'wide') {
    for (const name of ['value', 'repeats', 'require_metadata', 'columns'] as const) {
      if (query[name]) throw onlyInWide(name);
    }
    return;
  }
  if (query.after) throw notInWide('after', 'a wide file is not ordered by time and cannot be resumed');
  if (query.count) throw notInWide('count', 'the number of records is known only at the end');
}
