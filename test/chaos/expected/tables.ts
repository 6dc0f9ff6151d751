import {
  type Question,
  type Shortcodes,
  armText,
  columnNames,
  keyOf,
  smallestIndex,
} from '../../support/wide.ts';
import { choicesOf } from '../../support/choices.ts';
import { type FormVersion, type Response, timestampOf } from '../model/account.ts';
import { byCreation, compareLists } from '../model/order.ts';
import type { Parameters } from '../requests/parameters.ts';

/*
 * The tables that docs/api.md describes, for CSV and workbooks. The first row has the names of the
 * columns.
 */

export type Cells = (string | null)[];

export const LONG = [
  'parent_surveyid',
  'parent_shortcode',
  'surveyid',
  'flowid',
  'userid',
  'question_ref',
  'question_idx',
  'question_text',
  'response',
  'timestamp',
  'metadata',
  'ad_id',
  'pageid',
  'translated_response',
];
/** What people typed. */
const TYPED = new Set(['question_text', 'response', 'translated_response']);

export const longHeader = ({ metadata = [], arm = [], omit = [] }: Parameters): Cells => [
  ...LONG.filter((name) => !omit.includes(name)),
  ...metadata.map((key) => `metadata.${key}`),
  ...arm.map((name) => `arm.${name}`),
];

export function longRecord(
  row: Response,
  { safe = false, metadata = [], arm = [], omit = [] }: Parameters,
): Cells {
  const cells = LONG.filter((name) => !omit.includes(name)).map((name) => {
    const cell = name === 'ad_id' ? (row.values[name] ?? null) : row[name as 'response'];
    return safe && TYPED.has(name) ? guarded(cell) : cell;
  });
  const added = [
    ...metadata.map((key) => row.values[key] ?? null),
    ...arm.map((name) => armText(row, name)),
  ];
  return [...cells, ...(safe ? added.map(guarded) : added)];
}

const INVISIBLE = String.raw`[[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}]--[\t\r\n]]`;
const FORMULA = String.raw`[=+\-@\|%−＝＋－＠｜％﹦﹢﹣﹫﹪]`;
const CELL_START = new RegExp(
  String.raw`^(?=[\t\r\n]|${INVISIBLE}*${FORMULA})|(?<=[;\t\r\n])(?=["${INVISIBLE}]*${FORMULA})`,
  'gv',
);

/** What `safe` makes of a text that people typed. */
export const guarded = (text: string | null): string | null =>
  text && text.replaceAll(CELL_START, "'");

export function formDataTable(forms: readonly FormVersion[]): Cells[] {
  const ordered = forms.toSorted(
    (a, b) => compareLists([a.shortcode], [b.shortcode]) || byCreation(a, b),
  );
  const records = ordered.map((form): Cells => {
    const version =
      ordered.filter(({ shortcode }) => shortcode === form.shortcode).indexOf(form) + 1;
    return [
      form.id,
      form.shortcode,
      form.survey,
      String(version),
      timestampOf(form.created),
      form.metadata,
    ];
  });
  return [
    ['surveyid', 'shortcode', 'survey_name', 'version', 'survey_created', 'metadata'],
    ...records,
  ];
}

const CODEBOOK = [
  'column',
  'shortcode',
  'question_ref',
  'question_idx',
  'question_text',
  'responses',
  'participants',
  'first',
  'last',
  'choices',
];

export function codebookTable(
  questions: readonly Question<Response>[],
  shortcodes: Shortcodes,
  { columns, safe }: Parameters,
): Cells[] {
  const names = columnNames(questions, shortcodes, columns);
  const typed = (text: string | null) => (safe ? guarded(text) : text);
  const records = questions.map((question): Cells => {
    const { shortcode, question: ref, group } = question;
    const [first, last] = [group[0] as Response, group.at(-1) as Response];
    const choices = choicesOf(last.question_text);
    return [
      names.get(keyOf(first, shortcodes, columns)) ?? null,
      shortcode,
      ref,
      String(smallestIndex(question)),
      typed(last.question_text),
      String(group.length),
      participantsOf(group),
      first.timestamp,
      last.timestamp,
      choices && typed(JSON.stringify(choices)),
    ];
  });
  return [CODEBOOK, ...records];
}

export const participantsOf = (rows: readonly Response[]) =>
  String(new Set(rows.map(({ userid }) => userid)).size);
