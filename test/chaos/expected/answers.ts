import { errorBody } from '../../support/api.ts';
import { naiveCsv } from '../../support/csv.ts';
import {
  type Shortcodes,
  columnNames,
  isLeftOut,
  keyOf,
  questionsOf,
  wideColumns,
  wideRecords,
} from '../../support/wide.ts';
import type { Response } from '../model/account.ts';
import type { Parameters } from '../requests/parameters.ts';
import { withoutLineEnds } from './json.ts';
import { distributionOf } from './numbers.ts';
import { type Cells, guarded } from './tables.ts';

/*
 * What /responses/answers counts: the cells of the wide file of a selection.
 */

const COLUMN = 'the name of a question’s column in the wide file of this survey';
const GROUPING = `${COLUMN}, metadata.<key>, arm.seed_N, or arm.seed_N_M with M from 1 to 10`;
/** How many groups are listed. */
const LISTED = 20;

/**
 * @param rows the selected responses, in the order of a long file
 * @param ofSurvey those of the survey, selected or not
 */
export function answersBody(
  rows: readonly Response[],
  shortcodes: Shortcodes,
  parameters: Parameters,
  ofSurvey: readonly Response[],
): [body: string, status?: 400] {
  const { by, column = [], columns, format } = parameters;
  const namesOf = (some: readonly Response[]) =>
    columnNames(questionsOf(some, shortcodes), shortcodes, columns).values();
  const known = new Set([...namesOf(rows), ...namesOf(ofSurvey)]);
  const isUnknown = (name: string) => ofSurvey.length > 0 && !known.has(name);
  if (column.some(isUnknown)) return [errorBody(`column must be ${COLUMN}.`), 400];
  if (by !== undefined && !addedBy(by) && isUnknown(by))
    return [errorBody(`by must be ${GROUPING}.`), 400];

  const counted = countAnswers(rows, shortcodes, parameters);
  return [format === 'csv' ? csvOf(counted, parameters) : jsonOf(counted, parameters)];
}

/** The parameter that adds a column which is no question's. */
function addedBy(column = ''): Partial<Parameters> | undefined {
  const [, prefix, name = ''] = /^(metadata|arm)\.(.*)/s.exec(column) ?? [];
  return prefix ? { [prefix]: [name] } : undefined;
}

function countAnswers(rows: readonly Response[], shortcodes: Shortcodes, parameters: Parameters) {
  const { by, column: chosen, columns } = parameters;
  const wide = { ...parameters, ...addedBy(by) };
  const table = wideColumns(rows, shortcodes, wide);
  const participants = [...Map.groupBy(rows, ({ userid }) => userid).values()];
  const records = participants.flatMap((some) => wideRecords(some, table, shortcodes, wide));
  const at = by === undefined ? -1 : table.header.indexOf(by);
  const questions = questionsOf(rows, shortcodes);
  const names = [...columnNames(questions, shortcodes, columns)];
  return {
    records,
    leftOut: participants.filter((some) => isLeftOut(some, shortcodes, parameters)).length,
    groups: rank(records, (record) => record[at] ?? null),
    columns: names
      .map(([key, column], i) => ({
        column,
        first: questions.find(({ group }) =>
          group.some((row) => keyOf(row, shortcodes, columns) === key),
        ),
        values: rank(records, (record) => record.at(i - names.length) ?? null),
      }))
      .filter(({ column }) => chosen?.includes(column) ?? true),
  };
}

type Counted = ReturnType<typeof countAnswers>;

/** The values of a cell with their records, the most frequent first. */
function rank(records: readonly Cells[], cellOf: (record: Cells) => string | null) {
  const byValue = Map.groupBy(records, cellOf);
  byValue.delete(null);
  return Array.from(byValue, ([value, some]) => ({ value: value ?? '', records: some })).toSorted(
    (a, b) =>
      b.records.length - a.records.length ||
      Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)),
  );
}

const recordsOf = (values: Counted['groups']) => values.flatMap(({ records }) => records);

/** How many of some records are in each group that is listed. */
const countIn = ({ groups }: Counted, some: readonly Cells[]) =>
  groups.slice(0, LISTED).map(({ records }) => some.filter((one) => records.includes(one)).length);

function jsonOf(counted: Counted, { by, numbers, top = 20 }: Parameters): string {
  const { records, leftOut, groups, columns } = counted;
  const inGroups = (some: readonly Cells[]) =>
    by === undefined ? undefined : countIn(counted, some);
  const listOf = (values: typeof groups) =>
    values.map(({ value, records: some }) => ({ value: cut(value), records: some.length }));
  const grouping = {
    by,
    groups: listOf(groups.slice(0, LISTED)),
    ungrouped: records.length - recordsOf(groups).length,
    other_groups: recordsOf(groups.slice(LISTED)).length,
  };

  const questions = columns.map(({ column, first, values }) => ({
    column,
    shortcode: first?.shortcode,
    question_ref: first?.question,
    records: recordsOf(values).length,
    distinct: values.length,
    values: values.slice(0, top).map(({ value, records: some }) => ({
      value: cut(value),
      records: some.length,
      groups: inGroups(some),
    })),
    other: recordsOf(values.slice(top)).length,
    numbers: numbers && distributionOf(values),
    groups: inGroups(recordsOf(values)),
  }));
  return withoutLineEnds(
    JSON.stringify({
      records: records.length,
      left_out: leftOut,
      ...(by !== undefined && grouping),
      questions,
    }),
  );
}

function csvOf(counted: Counted, { by, safe, top = 20 }: Parameters): string {
  const typed = (text: string | null) =>
    text !== null && safe ? guarded(cut(text)) : text && cut(text);
  const groups = [...counted.groups.slice(0, LISTED).map(({ value }) => value), null];
  const lines = counted.columns.flatMap(({ column, first, values }) => {
    const others = { value: null, records: recordsOf(values.slice(top)) };
    return [...values.slice(0, top), others].flatMap(({ value, records }) => {
      const counts = countIn(counted, records);
      const ungrouped = counts.reduce((rest, count) => rest - count, records.length);
      return [...counts, ungrouped].map((count, i): Cells => {
        const group = typed(groups[i] ?? null);
        const { shortcode = '', question = '' } = first ?? {};
        return [column, shortcode, question, typed(value), group, String(count)];
      });
    });
  });
  const header = ['column', 'shortcode', 'question_ref', 'value', 'group', 'records'];
  const listed = [header, ...lines.filter((line) => line.at(-1) !== '0')];
  return naiveCsv(by === undefined ? listed.map((line) => line.toSpliced(4, 1)) : listed);
}

/** A value as it is listed. */
const cut = (value: string) =>
  Array.from(value).length > 1000 ? `${Array.from(value).slice(0, 1000).join('')}…` : value;
