import type { Params } from './api.ts';
import { PERIODS, dayAfter, dayIn, isDay, isZone, startOf } from './dates.ts';
import type { DownloadRequest } from './downloads/manifest.ts';
import type { RecordFormat } from './downloads/records.ts';
import { fileName } from './file-name.ts';
import { partsOfSplit } from './results/split.ts';
import { TIME_ZONE, form, options as lists, selection as texts, views } from './texts.ts';

/*
 * What the page shows and downloads of a survey, as in the query string of its URL: the view, the
 * filters, what answers are split by, and the options of the file, never the key. The names are
 * those of the API, except that `since` and `until` are days, both included, in the zone
 * `timezone`, and that `by` names a question by its form.
 */

/** New values of parameters. */
export type Values = Readonly<Record<string, readonly string[]>>;

export type View = keyof typeof views;
export type FormatName = keyof typeof form.formats;

interface Format {
  /** The endpoint's path, below the base path. */
  readonly path: string;
  /** Its name in the example programs. */
  readonly file: string;
  /** The format of its records in the long layout. */
  readonly format: Exclude<RecordFormat, 'wide'>;
  /** Parameters besides the survey and the filters. */
  readonly accepts: readonly string[];
  /** Parameters that are always sent. */
  readonly adds?: Params;
}

const FILTERS = ['since', 'until', 'timezone', 'shortcode', 'question_ref', 'userid'];
const TABLE = ['layout', 'metadata', 'arm'];
/** Parameters of the wide layout that can leave out participants. */
const LEAVE_OUT = ['repeats', 'require_metadata'];
const WIDE = ['value', 'columns', 'timing', ...LEAVE_OUT];
/** Parameters of the wide layout only. */
export const WIDE_ONLY = [...WIDE, 'numbers'];

const CSV = {
  path: '/responses/csv',
  file: 'responses.csv',
  format: 'csv',
  accepts: [...TABLE, ...WIDE],
} as const;

/** The formats, by their names in the URL. The first is the default. */
export const FORMATS: Readonly<Record<FormatName, Format>> = {
  xlsx: {
    path: '/responses/xlsx',
    file: 'responses.xlsx',
    format: 'other',
    accepts: [...TABLE, ...WIDE_ONLY, 'codebook'],
  },
  csv: CSV,
  codebook: {
    path: '/responses/questions',
    file: 'codebook.csv',
    format: 'other',
    accepts: ['columns'],
    adds: [['format', 'csv']],
  },
  'csv-excel': { ...CSV, adds: Object.entries({ bom: 'true', safe: 'true' }) },
  ndjson: { path: '/responses/ndjson', file: 'responses.ndjson', format: 'ndjson', accepts: [] },
};

/** Parameters that can have several values. */
const LISTS = ['shortcode', 'question_ref', 'metadata', 'require_metadata', 'arm'];
/** Parameters with one of several values. The first is the default, which links leave out. */
const CHOICES = new Map<string, readonly string[]>([
  ...Object.entries({ view: views, format: FORMATS, layout: form.layouts }).map(
    ([name, choices]) => [name, Object.keys(choices)] as const,
  ),
  ...Object.entries(lists).map(([name, { choices }]) => [name, Object.keys(choices)] as const),
  ...Object.entries(form.boxes).map(([name, { choices }]) => [name, choices] as const),
]);
/** What is a value of the other parameters. */
const CHECKS = new Map<string, (value: string) => boolean>([
  ['since', (value) => isDay(value) || PERIODS.has(value)],
  ['until', isDay],
  ['timezone', isZone],
  ['by', (value) => partsOfSplit(value).length > 0],
  ...['survey', 'userid', ...LISTS].map((name) => [name, () => true] as const),
]);

/**
 * Appends a value that is not the default. @returns false for what is not a value of the parameter,
 * or a second one
 */
function append(selection: URLSearchParams, name: string, value: string): boolean {
  const choices = CHOICES.get(name);
  if (value.trim() === '' || value === choices?.[0]) return true;
  const isValue = choices?.includes(value) ?? CHECKS.get(name)?.(value) ?? false;
  if (!isValue || (selection.has(name) && !LISTS.includes(name))) return false;
  if (!selection.has(name, value)) selection.append(name, value);
  return true;
}

/** What the page takes from a link, and the parts that it does not take. */
export function selectionOf(link: URLSearchParams): { selection: URLSearchParams; unused: Params } {
  const selection = new URLSearchParams();
  const unused = [...link].filter(([name, value]) => !append(selection, name, value));
  return { selection, unused };
}

/** A selection with other values for some parameters. Days without a time zone are the reader's. */
export function changed(selection: URLSearchParams, values: Values) {
  const result = new URLSearchParams(
    [...selection].filter(([name]) => !Object.hasOwn(values, name)),
  );
  for (const [name, list] of Object.entries(values))
    for (const value of list) append(result, name, value);

  const hasDays = result.has('since') || result.has('until');
  if (!hasDays) result.delete('timezone');
  else if (!result.has('timezone')) result.set('timezone', TIME_ZONE);
  return result;
}

/** The page's link to a selection. */
export const hrefOf = (selection: URLSearchParams): string => `/?${selection}`;

/** The same view and survey without filters, and without options of the file. */
export const cleared = (selection: URLSearchParams) =>
  new URLSearchParams(pickFrom(selection, ['survey', 'view', 'by']));

export const viewOf = (selection: URLSearchParams) => (selection.get('view') ?? 'results') as View;
/** The time zone of the selection's days. */
export const zoneOf = (selection: URLSearchParams): string =>
  selection.get('timezone') ?? TIME_ZONE;

/**
 * The first and the last day that are selected; empty where there is no limit. `since` can also be a
 * period that is relative to today, such as `last-week`.
 */
export function daysOf(selection: URLSearchParams): readonly [first: string, last: string] {
  const since = selection.get('since') ?? '';
  const [first, last] = PERIODS.get(since)?.(dayIn(zoneOf(selection))) ?? [since, ''];
  return [first, selection.get('until') ?? last];
}

/** The name of the selection's format. */
export const formatOf = (selection: URLSearchParams) =>
  (selection.get('format') ?? 'xlsx') as FormatName;

/** Whether the table has one row per participant. */
export const isWide = (selection: URLSearchParams): boolean =>
  selection.get('layout') === 'wide' && FORMATS[formatOf(selection)].accepts.includes('layout');

const pickFrom = (selection: URLSearchParams, names: readonly string[]): Params =>
  [...selection].filter(([name]) => names.includes(name));

/** Whether the selection is only a part of the survey. */
export const isFiltered = (selection: URLSearchParams): boolean =>
  pickFrom(selection, FILTERS).length > 0;

/** The survey and the filters, as the API's parameters. */
export function filtersOf(selection: URLSearchParams): Params {
  const zone = zoneOf(selection);
  const [first, last] = daysOf(selection);
  const days = { since: first, until: last && dayAfter(last, 1) };
  return [
    ...pickFrom(selection, ['survey']),
    ...Object.entries(days).flatMap(([name, day]): Params =>
      day ? [[name, startOf(day, zone)]] : [],
    ),
    ...pickFrom(selection, ['shortcode', 'question_ref', 'userid']),
  ];
}

/** The parameters with which the API counts what the file will have. */
export const countedOf = (selection: URLSearchParams): Params => [
  ...filtersOf(selection),
  ...(isWide(selection) ? pickFrom(selection, LEAVE_OUT) : []),
];

/**
 * The file that a selection describes. Parameters that its format does not accept are left out.
 *
 * @param selection with `survey`
 * @returns file: its name in the example programs
 */
export function downloadRequestOf(
  selection: URLSearchParams,
): DownloadRequest & { readonly file: string } {
  const name = formatOf(selection);
  const { path, file, format, accepts, adds = [] } = FORMATS[name];
  const isTable = accepts.includes('layout');
  const isWideTable = isWide(selection);
  const survey = selection.get('survey') ?? '';

  const options = pickFrom(selection, accepts).filter(
    ([option]) => option !== 'numbers' && (isWideTable || !isTable || !WIDE_ONLY.includes(option)),
  );
  // Spreadsheets calculate with the answers of participants, rather than with a list of answers to
  // all questions.
  if (name === 'xlsx' && isWideTable && !selection.has('numbers'))
    options.push(['numbers', 'true']);

  const layout = isWideTable ? 'wide' : 'long';
  const content = isTable ? layout : name;
  return {
    survey,
    path,
    params: [...filtersOf(selection), ...options, ...adds],
    about: describe(selection, options),
    format: format === 'csv' && isWideTable ? 'wide' : format,
    name: fileName(survey, isFiltered(selection) ? `${content}_filtered` : content, file),
    file,
  };
}

/** The filters of a selection in words. */
export function describeFilters(selection: URLSearchParams): string[] {
  const [first, last] = daysOf(selection);
  const days = first || last ? [texts.days(first, last, zoneOf(selection))] : [];
  const period = texts.periods[selection.get('since') ?? ''];
  if (period) days.unshift(period);
  const names = (['shortcode', 'question_ref', 'userid'] as const).filter((name) =>
    selection.has(name),
  );
  return [...days, ...names.map((name) => texts[name](selection.getAll(name)))];
}

interface Option {
  readonly label: string;
  readonly choices?: Readonly<Record<string, string>>;
}

/**
 * What distinguishes a file from others of its survey: the format, the layout, the filters and the
 * options.
 */
function describe(selection: URLSearchParams, options: Params): string {
  const labels: Readonly<Record<string, Option>> = { ...form.lists, ...lists, ...texts.options };
  const format = formatOf(selection);
  const parts: string[] = [form.formats[format].label];

  if (FORMATS[format].accepts.includes('layout'))
    parts.push(form.layouts[isWide(selection) ? 'wide' : 'long'].label);
  parts.push(...describeFilters(selection));

  for (const [option, pairs] of Map.groupBy(options, ([name]) => name)) {
    const { label, choices } = labels[option] ?? {};
    const values = pairs.map(([, value]) => choices?.[value] ?? value);
    if (label) parts.push(texts.filter(label, values));
  }
  return parts.join(' · ');
}
