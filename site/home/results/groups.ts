import { button, html } from '../dom.ts';
import { loaded } from '../loaded.ts';
import { cut } from '../long-text.ts';
import { results, split as texts } from '../texts.ts';
import type { Part } from './answered.ts';
import type { Found, Groups } from './answers.ts';

/**
 * The groups to show; undefined if answers are not split. Those of one record may tell whose it is:
 * they are shown only on request.
 */
export const partsOf = ({ groups }: Groups, showsAll: boolean): Part[] | undefined =>
  groups?.flatMap(({ value, records }, group) =>
    records > 1 || showsAll ? [{ title: cut(value, 60, 1) || results.empty, group }] : [],
  );

/** How many groups there are, how many records are in none of them, and what is not shown. */
export function groupsNote(
  request: () => Promise<Found>,
  showsAll: boolean,
  showAll: () => void,
  signal: AbortSignal,
): HTMLElement {
  const render = ({ all: { groups = [], other_groups = 0, ungrouped = 0 } }: Found) => {
    const hidden = showsAll ? 0 : groups.filter(({ records }) => records === 1).length;
    const note = texts.groups(groups.length, other_groups, ungrouped, hidden);
    return [
      html.p('note', note),
      hidden > 0 ? button(texts.showAll, showAll, { className: 'quiet' }) : undefined,
    ];
  };
  return loaded(request, render, signal).node;
}
