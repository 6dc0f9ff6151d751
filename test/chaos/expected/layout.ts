import { naiveCsv } from '../../support/csv.ts';
import { FIXED, type Shortcodes, questionsOf, wideColumns, wideRecords } from '../../support/wide.ts';
import type { Data, FormVersion, Response } from '../model/account.ts';
import { byCursor, primaryKeyOf, shortcodesOf } from '../model/order.ts';
import type { Path, Request } from '../requests/request.ts';
import { codebookJson, digestsJson, keyJson, responseJson, summaryJson, surveysJson } from './json.ts';
import { mixturesOf } from './mixtures.ts';
import { formsOf, select } from './select.ts';
import { type Cells, codebookTable, formDataTable, guarded, longHeader, longRecord } from './tables.ts';

/** Text that a body has for a row; in a wide file, for a participant. */
export interface Unit {
  /** More than one if it changed while the request ran; the longest first, since one may begin with another. */
  readonly texts: readonly string[];
  /** Whether it must be there: it was there all the time. */
  readonly isRequired: boolean;
}

/** A body that a request may get: a start, then units in order, at most `limit` of them, then an end. */
export interface Layout {
  readonly start: string;
  readonly units: readonly Unit[];
  readonly limit: number;
  readonly end: string;
}

/** A body without units. */
const whole = (start: string): Layout => ({ start, units: [], limit: 0, end: '' });

/**
 * The bodies with status 200 that a request may get, computed without SQL from the data of its account only. In those of pages, a
 * comma precedes every response, the first one too; the sheets of workbooks are written as CSV, one after the other.
 *
 * @param forms all form versions of the account, as they were when the survey was looked up
 * @param states all data that the account has had while the request ran
 */
export function layoutsOf(request: Request, forms: readonly FormVersion[], states: readonly Data[]): Layout[] {
  const { account, path, parameters } = request;
  const survey = formsOf(parameters, { forms });
  const shortcodes = shortcodesOf(survey);
  const selections = different(states.map(({ responses }) => select(parameters, survey, responses)));
  const rowLayouts = () => fileLayouts(request, selections, shortcodes);
  const layouts: Record<Path, () => Layout[]> = {
    '/surveys': () => [whole(surveysJson(account, forms))],
    '/key': () => [whole(keyJson(account))],
    '/responses': rowLayouts,
    '/responses/csv': rowLayouts,
    '/responses/ndjson': rowLayouts,
    '/responses/xlsx': rowLayouts,
    '/responses/form-data': () => [whole(naiveCsv(formDataTable(survey)))],
    // One statement reads everything.
    '/responses/digests': () => states.map((data) => whole(digestsJson(parameters, data))),
    '/responses/summary': () => selections.map((rows) => whole(summaryJson(rows, survey, parameters))),
    '/responses/questions': () =>
      selections.map((rows) => {
        const questions = questionsOf(rows, shortcodes);
        const isCsv = parameters.format === 'csv';
        return whole(isCsv ? naiveCsv(codebookTable(questions, parameters)) : codebookJson(questions, parameters));
      }),
  };
  return layouts[path]();
}

/** Those of pages and of files of responses. */
function fileLayouts(request: Request, selections: readonly (readonly Response[])[], shortcodes: Shortcodes): Layout[] {
  const { path, parameters } = request;
  const layouts =
    parameters.layout === 'wide'
      ? selections.map((rows) => wideLayout(request, wideColumns(rows, shortcodes, parameters), selections, shortcodes))
      : [longLayout(request, selections, shortcodes)];
  if (path !== '/responses/xlsx' || !parameters.codebook) return layouts;
  // It is read by a query of its own, perhaps at another moment.
  const codebooks = selections.map((rows) => codebookTable(questionsOf(rows, shortcodes), parameters));
  const ends = new Set(codebooks.map((table) => table.map((cells) => csvOf(request, cells)).join('')));
  return layouts.flatMap((layout) => Array.from(ends, (end) => ({ ...layout, end })));
}

/** A byte order mark, which a file that is resumed does not have. */
const startOf = ({ path, parameters: { bom, after } }: Request) =>
  bom && !after && path === '/responses/csv' ? '\uFEFF' : '';

/** @param columns as they were when they were determined */
function wideLayout(
  request: Request,
  columns: ReturnType<typeof wideColumns>,
  selections: readonly (readonly Response[])[],
  shortcodes: Shortcodes,
): Layout {
  const { parameters } = request;
  const participants = selections.map((selected) => Map.groupBy(selected, ({ userid }) => userid));
  const userids = new Set(participants.flatMap((byUserid) => [...byUserid.keys()]));
  const written = (record: Cells) =>
    csvOf(request, parameters.safe ? record.map((cell, i) => (i < FIXED.length ? cell : guarded(cell))) : record);
  const textsOf = (userid: string) =>
    mixturesOf(different(participants.map((byUserid) => byUserid.get(userid) ?? []))).map((rows) =>
      wideRecords(rows, columns, shortcodes, parameters).map(written).join(''),
    );
  const units = [...userids].toSorted((a, b) => (a < b ? -1 : 1)).map((userid) => unitOf(textsOf(userid)));
  return { start: startOf(request) + csvOf(request, columns.header), units, limit: Infinity, end: '' };
}

function longLayout(request: Request, selections: readonly (readonly Response[])[], shortcodes: Shortcodes): Layout {
  const { path, parameters } = request;
  const jsonOf = (row: Response) => responseJson(row, shortcodes.get(row.surveyid) ?? '');
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
  if (path === '/responses') return { start: '{"responses":[', units, limit: parameters.pageSize ?? 25, end: ']}' };
  const hasHeader = path !== '/responses/ndjson' && !parameters.after;
  const start = hasHeader ? startOf(request) + csvOf(request, longHeader(parameters)) : '';
  return { start, units, limit: Infinity, end: '' };
}

/** Lists without those that equal the one before. */
export const different = <T>(lists: readonly (readonly T[])[]): (readonly T[])[] =>
  lists.filter((list, i) => {
    const before = lists[i - 1];
    return !before || before.length !== list.length || list.some((value, at) => value !== before[at]);
  });

/** In a workbook, a null and an empty text are both an empty cell. */
const csvOf = ({ path }: Request, cells: Cells) =>
  naiveCsv([path === '/responses/xlsx' ? cells.map((cell) => cell || null) : cells]);

/** @param all its texts; one is empty if it may be missing */
function unitOf(all: readonly string[]): Unit {
  const some = [...new Set(all)].filter((text) => text !== '');
  return { texts: some.toSorted((a, b) => b.length - a.length), isRequired: !all.includes('') };
}
