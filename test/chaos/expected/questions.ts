import { choicesOf } from '../../support/choices.ts';
import type { FormVersion, Response } from '../model/account.ts';
import { byCreation, compareLists } from '../model/order.ts';
import { millisecondsOf, timestampOf } from '../model/moment.ts';
import { jsonOf, quoted } from './json.ts';
import type { Parameters } from './select.ts';
import type { Cells } from './tables.ts';

/** A question of a form, in all its versions, and its responses. */
export interface Question {
  readonly shortcode: string;
  readonly question: string;
  readonly group: readonly Response[];
}

/**
 * The questions that have responses, in the order of the columns of a wide file.
 *
 * @param rows in the order of a long file @param forms all form versions of the survey
 */
export function questionsOf(rows: readonly Response[], forms: readonly FormVersion[]): Question[] {
  const oldest = forms.toSorted(byCreation).map(({ shortcode }) => shortcode);
  const shortcodes = new Map(forms.map(({ id, shortcode }) => [id, shortcode]));
  const shortcodeOf = ({ form }: Response) => shortcodes.get(form) ?? '';
  return [...Map.groupBy(rows, (row) => JSON.stringify([shortcodeOf(row), row.question])).values()]
    .map((group) => ({ first: group[0] as Response, group }))
    .map(({ first, group }) => ({ shortcode: shortcodeOf(first), question: first.question, group }))
    .map((question) => ({
      question,
      keys: [oldest.indexOf(question.shortcode), smallestIndex(question), question.question],
    }))
    .toSorted((a, b) => compareLists(a.keys, b.keys))
    .map(({ question }) => question);
}

export const smallestIndex = ({ group }: Question): number => Math.min(...group.map(({ index }) => index));

export const columnName = ({ shortcode, question }: Question, { columns }: Parameters): string =>
  columns === 'question' ? question : `${shortcode}.${question}`;

const CODEBOOK = [
  ...['column', 'shortcode', 'question_ref', 'question_idx', 'question_text'],
  ...['responses', 'participants', 'first', 'last', 'choices'],
];
/** The members that are not strings. */
const JSON_MEMBERS = new Set(['responses', 'participants', 'choices']);

const codebook = (questions: readonly Question[], parameters: Parameters): Cells[] =>
  questions.map((entry) => [
    columnName(entry, parameters),
    entry.shortcode,
    entry.question,
    String(smallestIndex(entry)),
    entry.group.at(-1)?.questionText ?? null,
    String(entry.group.length),
    participantsOf(entry.group),
    timestampOf(entry.group[0]?.at ?? 0),
    timestampOf(entry.group.at(-1)?.at ?? 0),
    choicesJson(entry),
  ]);

export const codebookTable = (questions: readonly Question[], parameters: Parameters): Cells[] => [
  CODEBOOK,
  ...codebook(questions, parameters),
];

export function codebookJson(questions: readonly Question[], parameters: Parameters): string {
  const entries = codebook(questions, parameters).map((cells) =>
    jsonOf(
      cells.map((cell, i) => [
        CODEBOOK[i] ?? '',
        JSON_MEMBERS.has(CODEBOOK[i] ?? '') ? (cell ?? 'null') : quoted(cell),
      ]),
    ),
  );
  return `{"questions":[${entries.join(',')}]}`;
}

const participantsOf = (rows: readonly Response[]) => String(new Set(rows.map(({ userid }) => userid)).size);

function choicesJson({ group }: Question): string | null {
  const choices = choicesOf(group.at(-1)?.questionText ?? '');
  return choices && JSON.stringify(choices);
}

/** @param leftOut the number of participants who are not in the rows because of the parameters */
export function summaryJson(rows: readonly Response[], { timezone = 'UTC' }: Parameters, leftOut: number): string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' });
  const days = [...Map.groupBy(rows, ({ at }) => format.format(millisecondsOf(at)))].map(([day, group]) =>
    jsonOf([
      ['day', quoted(day)],
      ['responses', String(group.length)],
      ['participants', participantsOf(group)],
    ]),
  );
  const [first, last] = [rows[0], rows.at(-1)];
  return jsonOf([
    ['responses', String(rows.length)],
    ['participants', participantsOf(rows)],
    ['first', quoted(first ? timestampOf(first.at) : null)],
    ['last', quoted(last ? timestampOf(last.at) : null)],
    ['days', `[${days.join(',')}]`],
    ['left_out', String(leftOut)],
  ]);
}
