import { errorBody } from '../../support/api.ts';
import { naiveCsv } from '../../support/csv.ts';
import {
  type Shortcodes,
  answerOf,
  firstTyped,
  keyOf,
  questionsOf,
  wideColumns,
  wideRecords,
} from '../../support/wide.ts';
import { NUMBER } from '../../support/xlsx.ts';
import type { Data, FormVersion, Response } from '../model/account.ts';
import { byCursor, primaryKeyOf, shortcodesOf } from '../model/order.ts';
import type { Request } from '../requests/request.ts';
import { answersBody } from './answers.ts';
import {
  codebookJson,
  digestsJson,
  keyJson,
  responseJson,
  summaryJson,
  surveysJson,
} from './json.ts';
import { mixturesOf } from './mixtures.ts';
import { formsOf, select } from './select.ts';
import {
  type Cells,
  codebookTable,
  formDataTable,
  guarded,
  longHeader,
  longRecord,
} from './tables.ts';

/** Text that a body has for a row; in a wide file, for a participant. */
export interface Unit {
  /**
   * More than one if it changed while the request ran; the longest first, since one may begin with
   * another.
   */
  readonly texts: readonly string[];
  /** Whether it must be there: it was there all the time. */
  readonly isRequired: boolean;
}

/**
 * A response that a request may get. Its body has a start, then units in order, at most `limit` of
 * them, then an end.
 */
export interface Layout {
  readonly status: 200 | 400 | 404 | 500;
  readonly start: string;
  readonly units: readonly Unit[];
  readonly limit: number;
  readonly end: string;
}

/** A body without units. */
const whole = (start: string, status: Layout['status'] = 200): Layout => ({
  status,
  start,
  units: [],
  limit: 0,
  end: '',
});

/**
 * The responses that a request may get without a fault, computed without SQL from the data of its
 * account only. In those of pages, a comma precedes every response, the first one too; the sheets
 * of workbooks are written as CSV, one after the other.
 *
 * @param forms all form versions of the account, as they were when the survey was looked up
 * @param states all data that the account has had while the request ran
 */
export function layoutsOf(
  request: Request,
  forms: readonly FormVersion[],
  states: readonly Data[],
): Layout[] {
  const { account, path, parameters } = request;
  const { survey, layout, count } = parameters;
  if (path === '/surveys') return [whole(surveysJson(account, forms))];
  if (path === '/key') return ['null', '{"v":1}'].map((limits) => whole(keyJson(account, limits)));
  if (survey === '') return [whole(errorBody('No user, no responses!'), 400)];
  if (layout === 'wide' && path === '/responses/csv' && count) {
    const why = 'the number of records is known only at the end';
    return [whole(errorBody(`count cannot be used with layout=wide: ${why}.`), 400)];
  }
  if (path === '/responses/answers' && parameters.numbers && parameters.format === 'csv')
    return [whole(errorBody('numbers can only be used with format=json.'), 400)];
  const ids = new Set(formsOf(parameters, { forms }).map(({ id }) => id));
  const withResponses = states.filter(({ responses }) =>
    responses.some(({ surveyid }) => ids.has(surveyid)),
  );
  const isMissing = parameters.missing === '404';
  const message = errorBody(
    `No responses were found for survey: ${survey} for user: ${account.email}`,
  );
  const none = whole(message, isMissing ? 404 : 500);
  if (isMissing) return ids.size === 0 ? [none] : surveyLayouts(request, forms, states);
  return [
    ...(withResponses.length < states.length ? [none] : []),
    ...(withResponses.length > 0 ? surveyLayouts(request, forms, states) : []),
  ];
}

/** Those of a survey that has responses. */
function surveyLayouts(
  request: Request,
  forms: readonly FormVersion[],
  states: readonly Data[],
): Layout[] {
  const { path, parameters } = request;
  const survey = formsOf(parameters, { forms });
  const shortcodes = shortcodesOf(survey);
  if (path === '/responses/form-data') return [whole(naiveCsv(formDataTable(survey)))];
  // One statement reads everything.
  if (path === '/responses/digests')
    return states.map((data) => whole(digestsJson(parameters, data)));
  const selections = different(states.map((data) => select(parameters, survey, data)));
  if (path === '/responses/summary')
    return selections.map((rows) => whole(summaryJson(rows, survey, parameters)));
  if (path === '/responses/answers')
    return selections.flatMap((rows) =>
      states.map((data) => {
        const all = select({ survey: parameters.survey }, survey, data);
        return whole(...answersBody(rows, shortcodes, parameters, all));
      }),
    );
  if (path !== '/responses/questions') return fileLayouts(request, selections, shortcodes);
  return selections.map((rows) => {
    const questions = questionsOf(rows, shortcodes);
    const isCsv = parameters.format === 'csv';
    return whole(
      isCsv
        ? naiveCsv(codebookTable(questions, shortcodes, parameters))
        : codebookJson(questions, shortcodes, { ...parameters, safe: undefined }),
    );
  });
}

/** Those of pages and of files of responses. */
function fileLayouts(
  request: Request,
  selections: readonly (readonly Response[])[],
  shortcodes: Shortcodes,
): Layout[] {
  const { path, parameters } = request;
  const layouts =
    parameters.layout === 'wide'
      ? selections.flatMap((rows) => wideLayouts(request, rows, selections, shortcodes))
      : [longLayout(request, selections, shortcodes)];
  if (path !== '/responses/xlsx' || !parameters.codebook) return layouts;
  // It is read by a query of its own, perhaps at another moment.
  const codebooks = selections.map((rows) =>
    codebookTable(questionsOf(rows, shortcodes), shortcodes, parameters),
  );
  const ends = new Set(
    codebooks.map((table) => table.map((cells) => csvOf(request, cells)).join('')),
  );
  return layouts.flatMap((layout) => Array.from(ends, (end) => ({ ...layout, end })));
}

/** A byte order mark, which a file that is resumed does not have. */
const startOf = ({ path, parameters: { bom, after } }: Request) =>
  bom && !after && path === '/responses/csv' ? '\uFEFF' : '';

/** A text that can be a number, which has at most 15 digits. */
const NUMERIC = /^(?!(?:\D*\d){16})-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/**
 * Those of a wide table, one for each set of columns that may have numbers: they are found by a
 * query of their own.
 *
 * @param rows as they were when the columns were determined
 */
function wideLayouts(
  request: Request,
  rows: readonly Response[],
  selections: readonly (readonly Response[])[],
  shortcodes: Shortcodes,
): Layout[] {
  const { parameters } = request;
  const columns = wideColumns(rows, shortcodes, parameters);
  if (!parameters.numbers) return [wideLayout(request, columns, [], selections, shortcodes)];
  const asked = Map.groupBy(rows, (row) => keyOf(row, shortcodes, parameters.columns));
  const numbers = selections.map((selected) => {
    const groups = Map.groupBy(selected, (row) => keyOf(row, shortcodes));
    const isNumeric = (row: Response) => NUMERIC.test(answerOf(row, parameters) || '0');
    const areNumbers = (row: Response) => groups.get(keyOf(row, shortcodes))?.every(isNumeric);
    return columns.keys.filter((key) => asked.get(key)?.every(areNumbers));
  });
  return different(numbers).map((some) =>
    wideLayout(request, columns, some, selections, shortcodes),
  );
}

/** @param numbers those of the keys of columns whose cells are numbers where they can be */
function wideLayout(
  request: Request,
  { header, keys }: ReturnType<typeof wideColumns>,
  numbers: readonly string[],
  selections: readonly (readonly Response[])[],
  shortcodes: Shortcodes,
): Layout {
  const { parameters } = request;
  const participants = selections.map((selected) => Map.groupBy(selected, ({ userid }) => userid));
  const userids = new Set(participants.flatMap((byUserid) => [...byUserid.keys()]));
  const typed = (cell: string | null, i: number) => {
    if (parameters.safe) return i < firstTyped(parameters) ? cell : guarded(cell);
    const isNumber =
      numbers.includes(keys[i - header.length + keys.length] ?? '') && NUMERIC.test(cell ?? '');
    return isNumber ? `${NUMBER}${cell}` : cell;
  };
  const written = (record: Cells) => csvOf(request, record.map(typed));
  const textsOf = (userid: string) =>
    mixturesOf(different(participants.map((byUserid) => byUserid.get(userid) ?? []))).map((rows) =>
      wideRecords(rows, { header, keys }, shortcodes, parameters).map(written).join(''),
    );
  const units = [...userids]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((userid) => unitOf(textsOf(userid)));
  return { ...whole(startOf(request) + csvOf(request, header)), units, limit: Infinity };
}

function longLayout(
  request: Request,
  selections: readonly (readonly Response[])[],
  shortcodes: Shortcodes,
): Layout {
  const { path, parameters } = request;
  const jsonOf = (row: Response) =>
    responseJson(
      row,
      shortcodes.get(row.surveyid) ?? '',
      path === '/responses' ? { ...parameters, omit: undefined } : parameters,
    );
  const textOf = {
    '/responses': (row: Response) => `,${jsonOf(row)}`,
    '/responses/ndjson': (row: Response) => `${jsonOf(row)}\n`,
    '/responses/csv': (row: Response) => csvOf(request, longRecord(row, parameters)),
    '/responses/xlsx': (row: Response) => csvOf(request, longRecord(row, parameters)),
  }[path as '/responses'];
  const direction = parameters.order === 'desc' ? -1 : 1;
  const versions = [...Map.groupBy(selections.flat(), primaryKeyOf).values()]
    .map((rows) => ({ rows: new Set(rows), isRequired: rows.length === selections.length }))
    .toSorted(({ rows: [a] }, { rows: [b] }) => direction * byCursor(a as Response, b as Response));
  const units = versions.map(({ rows, isRequired }) =>
    unitOf([...Array.from(rows, textOf), ...(isRequired ? [] : [''])]),
  );
  if (path === '/responses')
    return { ...whole('{"responses":['), units, limit: parameters.pageSize ?? 25, end: ']}' };
  const hasHeader = path !== '/responses/ndjson' && !parameters.after;
  const start = hasHeader ? startOf(request) + csvOf(request, longHeader(parameters)) : '';
  return { ...whole(start), units, limit: Infinity };
}

/** Lists without those that equal the one before. */
export const different = <T>(lists: readonly (readonly T[])[]): (readonly T[])[] =>
  lists.filter((list, i) => {
    const before = lists[i - 1];
    return (
      !before || before.length !== list.length || list.some((value, at) => value !== before[at])
    );
  });

/** In a workbook, a null and an empty text are both an empty cell. */
const csvOf = ({ path }: Request, cells: Cells) =>
  naiveCsv([path === '/responses/xlsx' ? cells.map((cell) => cell || null) : cells]);

/** @param all its texts; one is empty if it may be missing */
function unitOf(all: readonly string[]): Unit {
  const some = [...new Set(all)].filter((text) => text !== '');
  return { texts: some.toSorted((a, b) => b.length - a.length), isRequired: !all.includes('') };
}
