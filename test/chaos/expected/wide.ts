import { labelOf } from '../../support/choices.ts';
import type { FormVersion, Response } from '../model/account.ts';
import { compareLists } from '../model/order.ts';
import { timestampOf } from '../model/moment.ts';
import { type Question, columnName, questionsOf } from './questions.ts';
import type { Parameters } from './select.ts';
import { type Cells, metadataCells, typedBy } from './tables.ts';

const FIXED = ['userid', 'parent_surveyid', 'parent_shortcode', 'flowid', 'started', 'ended', 'attempts', 'metadata'];

/** The columns of a wide file. */
export interface WideColumns {
  readonly header: Cells;
  readonly forms: readonly FormVersion[];
  /** The names of the columns of questions, and what they are found by: see `keyOf`. */
  readonly keys: readonly string[];
}

/** @param rows in the order of a long file @param forms all form versions of the survey */
export function wideColumns(
  rows: readonly Response[],
  forms: readonly FormVersion[],
  parameters: Parameters,
): WideColumns {
  const names = new Map(
    questionsOf(rows, forms).map((question) => [keyOf(question, parameters), columnName(question, parameters)]),
  );
  const metadata = (parameters.metadata ?? []).map((key) => `metadata.${key}`);
  return { header: [...FIXED, ...metadata, ...names.values()], forms, keys: [...names.keys()] };
}

const keyOf = ({ shortcode, question }: Omit<Question, 'group'>, { columns }: Parameters): string =>
  columns === 'question' ? question : JSON.stringify([shortcode, question]);

/** @param rows in the order of a long file @returns the records of each participant, in the order of the file */
export function wideRecords(
  rows: readonly Response[],
  { forms, keys }: WideColumns,
  parameters: Parameters,
): Map<string, Cells[]> {
  const shortcodes = new Map(forms.map(({ id, shortcode }) => [id, shortcode]));
  const shortcodeOf = ({ form }: Response) => shortcodes.get(form) ?? '';
  const columnOf = (row: Response) =>
    keys.indexOf(keyOf({ shortcode: shortcodeOf(row), question: row.question }, parameters));
  const typed = typedBy(parameters);

  const recordOf = (record: readonly Response[]): Cells => {
    const kept = parameters.repeats === 'first' ? onlyFirstFlows(record, shortcodeOf) : record;
    const [first, last] = [kept[0] as Response, kept.at(-1) as Response];
    const answers = new Map(kept.map((row) => [columnOf(row), answerOf(row, parameters)]));
    return [
      first.userid,
      first.parentId,
      first.parentShortcode,
      last.flowid,
      timestampOf(first.at),
      timestampOf(last.at),
      String(Math.max(...flowsByForm(record, forms))),
      last.metadata.json,
      ...metadataCells(last, parameters),
      ...keys.map((_, column) => typed(answers.get(column) ?? null)),
    ];
  };
  const known = rows.filter((row) => columnOf(row) >= 0);
  const participants = [...Map.groupBy(known, ({ userid }) => userid)].filter(
    ([, participant]) => !isLeftOut(participant, forms, parameters),
  );
  return new Map(
    participants
      .toSorted(([a], [b]) => compareLists([a], [b]))
      .map(([userid, participant]) => [userid, [...Map.groupBy(participant, recordKey).values()].map(recordOf)]),
  );
}

/**
 * Whether the parameters leave out a participant.
 *
 * @param participant all of their responses @param forms all form versions of the survey
 */
export const isLeftOut = (
  participant: readonly Response[],
  forms: readonly FormVersion[],
  { repeats, require_metadata: required = [] }: Parameters,
) =>
  (repeats === 'drop' && flowsByForm(participant, forms).some((flows) => flows > 1)) ||
  required.some((key) => participant.some(({ metadata }) => !(key in metadata.values)));

const recordKey = ({ parentId, parentShortcode }: Response) => JSON.stringify([parentId, parentShortcode]);

/** How many flows there are of each form. */
function flowsByForm(rows: readonly Response[], forms: readonly FormVersion[]): number[] {
  const shortcodes = new Map(forms.map(({ id, shortcode }) => [id, shortcode]));
  const byForm = Map.groupBy(rows, ({ form }) => shortcodes.get(form));
  return [...byForm.values()].map((some) => new Set(some.map(({ flowid }) => flowid)).size);
}

function onlyFirstFlows(rows: readonly Response[], shortcodeOf: (row: Response) => string): Response[] {
  const flows = new Map<string, string>();
  for (const row of rows) if (!flows.has(shortcodeOf(row))) flows.set(shortcodeOf(row), row.flowid);
  return rows.filter((row) => flows.get(shortcodeOf(row)) === row.flowid);
}

function answerOf({ text, translated, questionText }: Response, { value }: Parameters): string {
  if (value === 'label') return labelOf(text, questionText);
  return value === 'translated' ? (translated ?? text) : text;
}
