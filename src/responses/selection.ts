import type { Cursor } from './cursor.ts';
import type { Microseconds } from './timestamp.ts';

/** One version of one form of a survey: a row of `surveys`. */
export interface FormVersion {
  /** Lower-case UUID; the `surveyid` of its responses. */
  readonly id: string;
  readonly shortcode: string;
}

/** The filters of a request, named like its parameters. */
export interface Filters {
  readonly since?: Microseconds | undefined;
  readonly until?: Microseconds | undefined;
  readonly shortcode?: readonly string[] | undefined;
  readonly userid?: readonly string[] | undefined;
  readonly question_ref?: readonly string[] | undefined;
}

/** The responses to these form versions that pass every filter. */
export interface Selection {
  readonly formVersions: readonly FormVersion[];
  /** At this time or later. */
  readonly since?: Microseconds | undefined;
  /** Before this time. */
  readonly until?: Microseconds | undefined;
  /** By one of these participants. */
  readonly userids?: readonly string[] | undefined;
  /** To one of these questions. */
  readonly questionRefs?: readonly string[] | undefined;
}

/** Part of a selection: the first `limit` responses after `after`, up to and including `upTo`. */
export interface Range {
  readonly after?: Cursor | undefined;
  readonly upTo?: Required<Cursor> | undefined;
  readonly limit: number;
  /** How many it had without the filters that no index holds. */
  readonly keys?: number | undefined;
}

/** Applies a request's filters to a survey. */
export function select(survey: readonly FormVersion[], filters: Filters): Selection {
  const { since, until, shortcode: shortcodes, userid: userids, question_ref: questionRefs } = filters;
  const formVersions = shortcodes ? survey.filter(({ shortcode }) => shortcodes.includes(shortcode)) : survey;
  return { formVersions, since, until, userids, questionRefs };
}
