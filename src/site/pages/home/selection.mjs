/*
 * What to download, as in the query string of the page's URL: the API's parameters and `format`, never the key.
 */

/**
 * @typedef {object} Format
 * @property {string} path of the endpoint, below the base path
 * @property {string} file its name in the example programs
 * @property {'csv' | 'ndjson' | 'other'} format of its records: see DownloadRequest
 * @property {readonly string[]} accepts parameters besides the survey and the filters
 * @property {[name: string, value: string][]} [adds] parameters that are always sent
 */

const FILTERS = ['since', 'until', 'shortcode', 'question_ref', 'userid'];
const TABLE = ['layout', 'metadata'];
/** Parameters of the wide layout only. */
const WIDE = ['value', 'repeats', 'columns', 'require_metadata'];

/** The formats, by their names in the URL. The first is the default. @type {Readonly<Record<string, Format>>} */
export const FORMATS = {
  xlsx: { path: '/responses/xlsx', file: 'responses.xlsx', format: 'other', accepts: [...TABLE, ...WIDE] },
  csv: { path: '/responses/csv', file: 'responses.csv', format: 'csv', accepts: [...TABLE, ...WIDE] },
  'csv-excel': {
    path: '/responses/csv',
    file: 'responses.csv',
    format: 'csv',
    accepts: [...TABLE, ...WIDE],
    adds: [
      ['bom', 'true'],
      ['safe', 'true'],
    ],
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

/** The name of the selection's format. @param {URLSearchParams} selection */
export const formatOf = (selection) => {
  const name = selection.get('format') ?? '';
  return name in FORMATS ? name : /** @type {string} */ (Object.keys(FORMATS)[0]);
};

/**
 * The survey and the filters.
 *
 * @param {URLSearchParams} selection
 */
export const filtersOf = (selection) =>
  [...selection].filter(([name, value]) => value !== '' && ['survey', ...FILTERS].includes(name));

/** Whether the table has one row per participant. @param {URLSearchParams} selection */
export const isWide = (selection) =>
  selection.get('layout') === 'wide' && FORMATS[formatOf(selection)]?.accepts.includes('layout') === true;

/**
 * The file that a selection describes. Parameters that its format does not accept are left out.
 *
 * @param {URLSearchParams} selection with `survey`
 * @returns {import('./downloads.mjs').DownloadRequest & { file: string }}
 */
export function downloadRequestOf(selection) {
  const name = formatOf(selection);
  const { path, file, format, accepts, adds = [] } = /** @type {Format} */ (FORMATS[name]);
  const options = [...selection].filter(
    ([option, value]) =>
      value !== '' &&
      accepts.includes(option) &&
      (isWide(selection) || !accepts.includes('layout') || !WIDE.includes(option)),
  );
  return {
    survey: selection.get('survey') ?? '',
    path,
    params: [...filtersOf(selection), ...options, ...adds],
    format: format === 'csv' && isWide(selection) ? 'wide' : format,
    file,
  };
}
