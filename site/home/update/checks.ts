import type { Params } from '../api.ts';
import { update as texts } from '../texts.ts';
import { type Digests, dayOf } from './digest.ts';
import type { Contents } from './file.ts';
import { Refused } from './refused.ts';

/* Checks whether a file is one of the selection. These functions throw Refused. */

/** Checks the columns of metadata, which may be in any order. */
export function checkKeys(keys: readonly string[], params: Params): void {
  const chosen = params.filter(([name]) => name === 'metadata').map(([, value]) => value);
  const [own, wanted] = [keys, new Set(chosen)].map((names) => [...names].toSorted().join('\n'));
  if (own !== wanted) throw new Refused(texts.otherColumns(keys));
}

/** Checks whether the filters select all responses of the file. */
export function checkContents({ first, last, values, isForeign }: Contents, params: Params): void {
  if (isForeign) throw new Refused(texts.otherSurvey);
  for (const [name, found] of Object.entries(values)) {
    const chosen = params.filter(([other]) => other === name).map(([, value]) => value);
    if (chosen.length > 0 && [...found].some((value) => !chosen.includes(value ?? '')))
      throw new Refused(texts.wider);
  }
  const [since = '', until = ''] = ['since', 'until'].map(
    (name) => params.find(([other]) => other === name)?.[1],
  );
  if (Date.parse(first) < Date.parse(since) || Date.parse(last) >= Date.parse(until))
    throw new Refused(texts.wider);
}

/**
 * Checks whether the file was made with `safe`, with which digests are equal that differ without.
 */
export function checkSafe({ days }: Contents, digests: Digests['digests']): void {
  const equal = (name: 'digest' | 'unescaped') =>
    digests.filter((day) => days.get(dayOf(day))?.[name] === day.digest).length;
  if (equal('unescaped') > equal('digest')) throw new Refused(texts.others.excel);
}
