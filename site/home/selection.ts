import type { Params } from './api.ts';
import type { DownloadRequest } from './downloads/manifest.ts';
import type { RecordFormat } from './downloads/records.ts';
import { fileName } from './file-name.ts';
import { form, moment, options as lists, selection as texts } from './texts.ts';

/* What to download, as in the query string of the page's URL: the API's parameters and `format`, never the key. */

export type FormatName = 'xlsx' | 'csv' | 'csv-excel' | 'ndjson' | 'codebook';

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

const FILTERS = ['since', 'until', 'shortcode', 'question_ref', 'userid'];
const TABLE = ['layout', 'metadata'];
/** Parameters of the wide layout that can leave out participants. */
const LEAVE_OUT = ['repeats', 'require_metadata'];
/** Parameters of the wide layout only. */
const WIDE = ['value', 'columns', ...LEAVE_OUT];

/** The formats, by their names in the URL. The first is the default. */
export const FORMATS: Readonly<Record<FormatName, Format>> = {
  xlsx: { path: '/responses/xlsx', file: 'responses.xlsx', format: 'other', accepts: [...TABLE, ...WIDE, 'codebook'] },
  csv: { path: '/responses/csv', file: 'responses.csv', format: 'csv', accepts: [...TABLE, ...WIDE] },
  'csv-excel': {
    path: '/responses/csv',
    file: 'responses.csv',
    format: 'csv',
    accepts: [...TABLE, ...WIDE],
    adds: Object.entries({ bom: 'true', safe: 'true' }),
  },
  ndjson: { path: '/responses/ndjson', file: 'responses.ndjson', format: 'ndjson', accepts: [] },
  codebook: {
    path: '/responses/questions',
    file: 'codebook.csv',
    format: 'other',
    accepts: ['columns'],
    adds: [['format', 'csv']],
  },
};

/** The name of the selection's format. */
export const formatOf = (selection: URLSearchParams): FormatName => {
  const name = selection.get('format') ?? '';
  return (Object.hasOwn(FORMATS, name) ? name : Object.keys(FORMATS)[0]) as FormatName;
};

/** Whether the table has one row per participant. */
export const isWide = (selection: URLSearchParams): boolean =>
  selection.get('layout') === 'wide' && FORMATS[formatOf(selection)].accepts.includes('layout');

const pickFrom = (selection: URLSearchParams, names: readonly string[]): Params =>
  [...selection].filter(([name, value]) => value !== '' && names.includes(name));

/** The survey and the filters. */
const filtersOf = (selection: URLSearchParams) => pickFrom(selection, ['survey', ...FILTERS]);

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
export function downloadRequestOf(selection: URLSearchParams): DownloadRequest & { readonly file: string } {
  const name = formatOf(selection);
  const { path, file, format, accepts, adds = [] } = FORMATS[name];
  const options = pickFrom(selection, accepts).filter(
    ([option]) => isWide(selection) || !accepts.includes('layout') || !WIDE.includes(option),
  );
  const survey = selection.get('survey') ?? '';
  const layout = isWide(selection) ? 'wide' : 'long';
  const chosen = [...filtersOf(selection), ...options];
  return {
    survey,
    path,
    params: [...chosen, ...adds],
    about: describe(name, chosen),
    format: format === 'csv' && isWide(selection) ? 'wide' : format,
    name: fileName(survey, accepts.includes('layout') ? layout : name, file),
    file,
  };
}

/** The whole CSV file in the long layout, to bring an older one up to date. */
export function updateRequestOf(selection: URLSearchParams): DownloadRequest {
  const whole = new URLSearchParams([...filtersOf(selection), ...pickFrom(selection, ['metadata']), ['format', 'csv']]);
  return { ...downloadRequestOf(whole), format: 'other' }; // it cannot be continued after the page is closed
}

/** What distinguishes a file from others of its survey: the format, the layout, and the other parameters. */
function describe(name: FormatName, params: Params): string {
  const valuesOf = (wanted: string) => params.flatMap(([other, value]) => (other === wanted ? [value] : []));
  const layout = valuesOf('layout')[0] === 'wide' ? 'wide' : 'long';
  const labels: Readonly<Record<string, { readonly label: string; readonly choices?: Record<string, string> }>> = {
    ...form.lists,
    ...lists,
    ...texts.filters,
  };
  const filters = Object.entries(labels).flatMap(([parameter, { label, choices }]) => {
    const values = valuesOf(parameter).map((value) => choices?.[value] ?? shown(parameter, value));
    return values.length > 0 ? [texts.filter(label, values)] : [];
  });
  const table = FORMATS[name].accepts.includes('layout') ? [form.layouts[layout].label] : [];
  return [form.formats[name].label, ...table, ...filters].join(' · ');
}

const shown = (name: string, value: string) =>
  (name === 'since' || name === 'until') && !Number.isNaN(Date.parse(value)) ? moment(value) : value;
