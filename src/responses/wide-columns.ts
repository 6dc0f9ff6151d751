/*
 * The columns of a wide table's records that are not a question's.
 */

/** The columns before {@link TIMING_COLUMNS}. */
export const FIRST_COLUMNS = [
  'userid',
  'parent_surveyid',
  'parent_shortcode',
  'flowid',
  'started',
  'ended',
  'attempts',
] as const;

/** With `timing=true`, how long the answers took. */
export const TIMING_COLUMNS = [
  'answers',
  'corrections',
  'survey_duration',
  'answer_time_min',
  'answer_time_median',
  'answer_time_75',
  'answer_time_90',
] as const;

/** The names that no question's column has, whether a file has these columns or not. */
export const RESERVED_NAMES = [...FIRST_COLUMNS, ...TIMING_COLUMNS, 'metadata'] as const;
/** The names of columns of metadata keys and treatment arms begin with one of these, and a dot. */
export const RESERVED_PREFIXES = ['metadata', 'arm'] as const;
