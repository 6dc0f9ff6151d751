import { naiveCsv } from '../../support/csv.ts';
import type { Data, FormVersion, Response } from '../model/account.ts';
import { byCursor, primaryKeyOf } from '../model/order.ts';
import { digestsJson } from './digests.ts';
import { responseJson, surveysJson, quoted } from './json.ts';
import { codebookJson, codebookTable, questionsOf, summaryJson } from './questions.ts';
import { type Request, formsOf, select } from './select.ts';
import { mixturesOf } from './mixtures.ts';
import { type Cells, formDataTable, longHeader, longRecord } from './tables.ts';
import { isLeftOut, wideColumns, wideRecords } from './wide.ts';

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
  if (path === '/surveys') return [whole(surveysJson(account, forms))];
  if (path === '/key') return [whole(`{"email":${quoted(account.email)},"expires":null}`)];
  const survey = formsOf(parameters, { forms });
  if (path === '/responses/form-data') return [whole(naiveCsv(formDataTable(survey)))];
  const selections = different(states.map(({ responses }) => select(parameters, survey, responses)));
  // One statement reads everything.
  if (path === '/responses/digests') return states.map((data) => whole(digestsJson(parameters, data)));
  if (path === '/responses/summary') {
    return selections.map((rows) => {
      const participants = [...Map.groupBy(rows, ({ userid }) => userid).values()];
      const leftOut = participants.filter((participant) => isLeftOut(participant, survey, parameters));
      const without = new Set(leftOut.flat());
      return whole(
        summaryJson(
          rows.filter((row) => !without.has(row)),
          parameters,
          leftOut.length,
        ),
      );
    });
  }
  if (path === '/responses/questions') {
    return selections.map((rows) => {
      const questions = questionsOf(rows, survey);
      const isCsv = parameters.format === 'csv';
      return whole(isCsv ? naiveCsv(codebookTable(questions, parameters)) : codebookJson(questions, parameters));
    });
  }
  const layouts =
    parameters.layout === 'wide'
      ? selections.map((rows) => wideLayout(request, rows, selections, survey))
      : [longLayout(request, selections, survey)];
  if (path !== '/responses/xlsx' || !parameters.codebook) return layouts;
  // It is read by a query of its own, perhaps at another moment.
  const codebooks = selections.map((rows) => codebookTable(questionsOf(rows, survey), parameters));
  const ends = new Set(codebooks.map((table) => table.map((cells) => csvOf(request, cells)).join('')));
  return layouts.flatMap((layout) => Array.from(ends, (end) => ({ ...layout, end })));
}

/** A byte order mark, which a file that is resumed does not have. */
const startOf = ({ path, parameters: { bom, after } }: Request) =>
  bom && !after && path === '/responses/csv' ? '\uFEFF' : '';

/** @param rows the selection when the columns were determined */
function wideLayout(
  request: Request,
  rows: readonly Response[],
  selections: readonly (readonly Response[])[],
  survey: readonly FormVersion[],
): Layout {
  const { parameters } = request;
  const columns = wideColumns(rows, survey, parameters);
  const participants = selections.map((selected) => Map.groupBy(selected, ({ userid }) => userid));
  const userids = new Set(participants.flatMap((byUserid) => [...byUserid.keys()]));
  const textsOf = (userid: string) =>
    mixturesOf(different(participants.map((byUserid) => byUserid.get(userid) ?? []))).map((some) =>
      (wideRecords(some, columns, parameters).get(userid) ?? []).map((cells) => csvOf(request, cells)).join(''),
    );
  const units = [...userids].toSorted((a, b) => (a < b ? -1 : 1)).map((userid) => unitOf(textsOf(userid)));
  return { start: startOf(request) + csvOf(request, columns.header), units, limit: Infinity, end: '' };
}

function longLayout(
  request: Request,
  selections: readonly (readonly Response[])[],
  survey: readonly FormVersion[],
): Layout {
  const { path, parameters } = request;
  const forms = new Map(survey.map((form) => [form.id, form]));
  const jsonOf = (row: Response) => responseJson(row, forms.get(row.form) as FormVersion);
  const textOf = {
    '/responses': (row: Response) => `,${jsonOf(row)}`,
    '/responses/ndjson': (row: Response) => `${jsonOf(row)}\n`,
    '/responses/csv': (row: Response) => csvOf(request, longRecord(row, parameters)),
    '/responses/xlsx': (row: Response) => csvOf(request, longRecord(row, parameters)),
  }[path as '/responses'];
  const direction = parameters.order === 'desc' ? -1 : 1;
  const style = JSON.stringify([path, parameters.safe, parameters.metadata]);
  const units = unitsOf(
    selections.map((rows) =>
      rows.map((value) => ({
        key: primaryKeyOf(value),
        value,
        text: written(value, `${style}${forms.get(value.form)?.shortcode}`, textOf),
      })),
    ),
    (a, b) => direction * byCursor(a, b),
  );
  if (path === '/responses') return { start: '{"responses":[', units, limit: parameters.pageSize ?? 25, end: ']}' };
  const hasHeader = path !== '/responses/ndjson' && !parameters.after;
  const start = hasHeader ? startOf(request) + csvOf(request, longHeader(parameters)) : '';
  return { start, units, limit: Infinity, end: '' };
}

/** The texts that rows have had, by how they are written. */
const texts = new WeakMap<Response, Map<string, string>>();

function written(row: Response, style: string, write: (row: Response) => string): string {
  const known = texts.get(row) ?? new Map<string, string>();
  const text = known.get(style) ?? write(row);
  texts.set(row, known.set(style, text));
  return text;
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

interface Part<T> {
  readonly key: string;
  readonly value: T;
  readonly text: string;
}

/** The units of several moments in one order. @param compare orders them */
function unitsOf<T>(moments: readonly (readonly Part<T>[])[], compare: (a: T, b: T) => number): Unit[] {
  if (moments.length === 1) return (moments[0] ?? []).map(({ text }) => ({ texts: [text], isRequired: true }));
  return [...Map.groupBy(moments.flat(), ({ key }) => key).values()]
    .toSorted((a, b) => compare((a[0] as Part<T>).value, (b[0] as Part<T>).value))
    .map((parts) => unitOf([...parts.map(({ text }) => text), ...(parts.length < moments.length ? [''] : [])]));
}

/** @param all its texts; one is empty if it may be missing */
function unitOf(all: readonly string[]): Unit {
  const some = [...new Set(all)].filter((text) => text !== '');
  return { texts: some.toSorted((a, b) => b.length - a.length), isRequired: !all.includes('') };
}
