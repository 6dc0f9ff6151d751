import type { FormVersion, Response } from '../model/account.ts';
import { byCreation, compareLists } from '../model/order.ts';
import { timestampOf } from '../model/moment.ts';
import type { Parameters } from './select.ts';

/*
 * The tables that docs/api.md describes, for CSV and workbooks. The first row has the names of the columns.
 */

export type Cells = (string | null)[];

const LONG = [
  ...['parent_surveyid', 'parent_shortcode', 'surveyid', 'flowid', 'userid', 'question_ref', 'question_idx'],
  ...['question_text', 'response', 'timestamp', 'metadata', 'ad_id', 'pageid', 'translated_response'],
];

export const longHeader = ({ metadata = [] }: Parameters): Cells => [
  ...LONG,
  ...metadata.map((key) => `metadata.${key}`),
];

export function longRecord(row: Response, parameters: Parameters): Cells {
  const typed = typedBy(parameters);
  return [
    row.parentId,
    row.parentShortcode,
    row.form,
    row.flowid,
    row.userid,
    row.question,
    String(row.index),
    typed(row.questionText),
    typed(row.text),
    timestampOf(row.at),
    row.metadata.json,
    row.metadata.values['ad_id'] ?? null,
    row.pageid,
    typed(row.translated),
    ...metadataCells(row, parameters),
  ];
}

export const metadataCells = ({ metadata }: Response, parameters: Parameters): Cells =>
  (parameters.metadata ?? []).map((key) => typedBy(parameters)(metadata.values[key] ?? null));

const INVISIBLE = String.raw`[[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}]--[\t\r\n]]`;
const FORMULA = String.raw`[=+\-@\|%−＝＋－＠｜％﹦﹢﹣﹫﹪]`;
const CELL_START = new RegExp(
  String.raw`^(?=[\t\r\n]|${INVISIBLE}*${FORMULA})|(?<=[;\t\r\n])(?=["${INVISIBLE}]*${FORMULA})`,
  'gv',
);

/** What happens to a text that people typed. */
export const typedBy =
  ({ safe }: Parameters) =>
  (text: string | null): string | null =>
    safe && text !== null ? text.replaceAll(CELL_START, "'") : text;

export function formDataTable(forms: readonly FormVersion[]): Cells[] {
  const ordered = forms.toSorted((a, b) => compareLists([a.shortcode], [b.shortcode]) || byCreation(a, b));
  const records = ordered.map((form): Cells => {
    const version = ordered.filter(({ shortcode }) => shortcode === form.shortcode).indexOf(form) + 1;
    return [form.id, form.shortcode, form.survey, String(version), timestampOf(form.created), form.metadata];
  });
  return [['surveyid', 'shortcode', 'survey_name', 'version', 'survey_created', 'metadata'], ...records];
}
