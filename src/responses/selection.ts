import type { KeyLimits } from '../auth/key-limits.ts';
import type { Cursor } from './cursor.ts';
import { FILTER_NAMES, type Filters } from './filters.ts';

/**
 * An account's survey: its form versions with this name, and what the key of a request sees of
 * them.
 */
export interface Survey {
  readonly accountId: string;
  readonly name: string;
  /** The limits of the key; null if it sees everything. */
  readonly limits: KeyLimits | null;
}

/** One version of one form of a survey: a row of `surveys`. */
export interface FormVersion {
  /** Lower-case UUID; the `surveyid` of its responses. */
  readonly id: string;
  readonly shortcode: string;
}

/**
 * The responses to these form versions of a survey that pass every filter. `userid` has ids as they
 * are stored, not pseudonyms.
 */
export interface Selection extends Omit<Filters, 'shortcode'> {
  readonly survey: Survey;
  readonly formVersions: readonly FormVersion[];
}

/** Part of a selection: the first `limit` responses after `after`, up to and including `upTo`. */
export interface Range {
  readonly after?: Cursor | undefined;
  readonly upTo?: Required<Cursor> | undefined;
  readonly limit: number;
  /** Those of its responses: their ids as stored, for a range that is a batch of participants. */
  readonly participants?: readonly string[] | undefined;
  /**
   * How many responses it had without the filters that no index holds, for a range that is a window
   * of those.
   */
  readonly windowSize?: number | undefined;
}

/**
 * Applies a request's filters to a survey.
 *
 * @param formVersions all of the survey
 */
export function select(
  survey: Survey,
  formVersions: readonly FormVersion[],
  filters: Filters,
): Selection {
  const { shortcode: shortcodes, ...others } = only(filters, FILTER_NAMES);
  const selected = shortcodes
    ? formVersions.filter(({ shortcode }) => shortcodes.includes(shortcode))
    : formVersions;

  return { survey, formVersions: selected, ...others };
}

/** Some of the filters of a request or a selection. */
export const only = (filters: Filters, names: readonly (keyof Filters)[]): Filters =>
  Object.fromEntries(names.map((name) => [name, filters[name]]));
