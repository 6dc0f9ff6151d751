import type { Layout } from '../expected/layout.ts';

/**
 * Compares a body with one that is expected.
 *
 * @param isComplete whether the transfer ended properly; otherwise the body may end anywhere
 * @returns what is wrong; undefined if nothing is
 */
export function problemInBody(
  body: string,
  { start, units, limit, end }: Layout,
  isComplete: boolean,
): string | undefined {
  let at = 0;
  const isNext = (text: string) => body.startsWith(text, at);
  const endsIn = (text: string) => !isComplete && text.startsWith(body.slice(at));
  if (!isNext(start))
    return endsIn(start)
      ? undefined
      : `another start: ${excerpt(body, 0)}, expected ${excerpt(start, 0)}`;
  at = start.length;
  let count = 0;
  for (const { texts, isRequired } of units) {
    if (count === limit) break;
    const text = texts.find(isNext);
    if (text !== undefined) {
      at += text.length;
      count++;
    } else if (texts.some(endsIn)) return undefined;
    else if (isRequired) {
      return `row ${count} of ${units.length} is missing or different: ${excerpt(body, at)}, expected ${excerpt(texts[0] ?? '', 0)}`;
    }
  }
  if (isComplete ? body.slice(at) === end : end.startsWith(body.slice(at))) return undefined;
  return `${body.length - at - end.length} characters after ${count} rows: ${excerpt(body, at)}`;
}

const excerpt = (text: string, at: number) => JSON.stringify(text.slice(at, at + 160));

/** The text of a body without units, or with units that did not change. */
export const textOf = ({ start, units, limit, end }: Layout): string =>
  start +
  units
    .slice(0, limit)
    .map(({ texts }) => texts[0])
    .join('') +
  end;

/** Whether there is only one body that a request may get. */
export const isSettled = (layouts: readonly Layout[]): boolean =>
  layouts.length === 1 &&
  (layouts[0]?.units ?? []).every(({ texts, isRequired }) => texts.length === 1 && isRequired);
