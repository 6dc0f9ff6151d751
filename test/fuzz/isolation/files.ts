import { naiveCsv } from '../../support/csv.ts';
import { type Account, type FormVersion, type Response, timestampOf } from './world.ts';

/*
 * The bodies that docs/api.md describes, written from their rows.
 */

type Cells = (string | null)[];

/** The page token of a response. @param older whether to use the older format, without the form version */
export function tokenOf({ at, userid, question, form }: Response, older = false): string {
  const text = older
    ? `${timestampOf(at)},${userid},${question}`
    : JSON.stringify([1, timestampOf(at), userid, question, form.id]);
  return Buffer.from(text).toString('base64url');
}

export function surveyJson({ marker }: Account, form: FormVersion): string {
  const { id, survey, shortcode, title, created, metadata, settings } = form;
  const closes = settings?.closes ?? null;
  return jsonOf([
    ['id', quoted(id)],
    ['survey_name', quoted(survey)],
    ['shortcode', quoted(shortcode)],
    ['title', quoted(title)],
    ['formid', quoted(marker)],
    ['created', quoted(timestampOf(created))],
    ['metadata', metadata],
    ['translation_conf', metadata],
    ['off_time', quoted(closes === null ? null : timestampOf(closes))],
    ['timeouts', settings?.timeouts ?? 'null'],
  ]);
}

export function responseJson(row: Response): string {
  return jsonOf([
    ['parent_surveyid', quoted(row.parentId)],
    ['parent_shortcode', quoted(row.parentShortcode)],
    ['shortcode', quoted(row.form.shortcode)],
    ['surveyid', quoted(row.form.id)],
    ['flowid', quoted(row.flowid)],
    ['userid', quoted(row.userid)],
    ['question_ref', quoted(row.question)],
    ['question_idx', quoted(String(row.index))],
    ['question_text', quoted(row.questionText)],
    ['response', quoted(row.text)],
    ['timestamp', quoted(timestampOf(row.at))],
    ['metadata', row.metadata.json ?? 'null'],
    ['pageid', quoted(row.pageid)],
    ['translated_response', quoted(row.translated)],
    ['token', quoted(tokenOf(row))],
  ]);
}

export const quoted = (text: string | null) => JSON.stringify(text);
export const jsonOf = (members: readonly (readonly [string, string])[]) =>
  `{${members.map(([name, value]) => `${quoted(name)}:${value}`).join(',')}}`.replace(
    /[\u0085\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const LONG_HEADER =
  'parent_surveyid,parent_shortcode,surveyid,flowid,userid,question_ref,question_idx,question_text,response,timestamp,' +
  'metadata,ad_id,pageid,translated_response\n';

/** @param header whether the header record comes first */
export function longCsv(rows: readonly Response[], header: boolean, safe: boolean): string {
  const typed = safe ? guarded : (text: string) => text;
  const records = rows.map((row): Cells => [
    row.parentId,
    row.parentShortcode,
    row.form.id,
    row.flowid,
    row.userid,
    row.question,
    String(row.index),
    typed(row.questionText),
    typed(row.text),
    timestampOf(row.at),
    row.metadata.json,
    row.metadata.adId,
    row.pageid,
    row.translated === null ? null : typed(row.translated),
  ]);
  return (header ? LONG_HEADER : '') + naiveCsv(records);
}

const INVISIBLE = String.raw`[[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}]--[\t\r\n]]`;
const FORMULA = String.raw`[=+\-@\|%−＝＋－＠｜％﹦﹢﹣﹫﹪]`;
const CELL_START = new RegExp(
  String.raw`^(?=[\t\r\n]|${INVISIBLE}*${FORMULA})|(?<=[;\t\r\n])(?=["${INVISIBLE}]*${FORMULA})`,
  'gv',
);
const guarded = (text: string) => text.replaceAll(CELL_START, "'");

/** @param rows in the order of the long file @param forms all form versions of the survey */
export function wideCsv(rows: readonly Response[], forms: readonly FormVersion[], safe: boolean): string {
  const named = ({ form, question }: Response) => `${form.shortcode}.${question}`;
  const firstOf = (row: Response) => forms.toSorted(byCreation).findIndex((f) => f.shortcode === row.form.shortcode);
  const smallest = (row: Response) =>
    Math.min(...rows.filter((r) => named(r) === named(row)).map(({ index }) => index));
  const columns = new Set(
    rows
      .map((row) => ({ name: named(row), keys: [firstOf(row), smallest(row), row.question] }))
      .toSorted((a, b) => compareLists(a.keys, b.keys))
      .map(({ name }) => name),
  );

  const flows = (chain: readonly Response[], { form }: Response) =>
    new Set(chain.filter((row) => row.form.shortcode === form.shortcode).map(({ flowid }) => flowid)).size;
  const chainOf = (row: Response) => JSON.stringify([row.userid, row.parentId, row.parentShortcode]);
  const chains = Object.values(Object.groupBy(rows, chainOf)).map((chain = []) => chain);
  const records = chains
    .toSorted((a, b) => compareLists([a[0]?.userid ?? ''], [b[0]?.userid ?? '']))
    .map((chain): Cells => {
      const [first, last] = [chain[0], chain.at(-1)];
      if (!first || !last) throw new Error('an empty chain');
      const { userid, parentId, parentShortcode } = first;
      const fixed = [
        userid,
        parentId,
        parentShortcode,
        last.flowid,
        timestampOf(first.at),
        timestampOf(last.at),
        String(Math.max(...chain.map((row) => flows(chain, row)))),
        last.metadata.json,
      ];
      const values = [...columns].map((name) => chain.findLast((row) => named(row) === name)?.text ?? null);
      return fixed.concat(values.map((text) => (safe && text !== null ? guarded(text) : text)));
    });
  const fixed = ['userid', 'parent_surveyid', 'parent_shortcode', 'flowid', 'started', 'ended', 'attempts', 'metadata'];
  return naiveCsv([[...fixed, ...columns], ...records]);
}

/** @param forms all form versions of one survey */
export function formDataCsv(forms: readonly FormVersion[]): string {
  const ordered = forms.toSorted((a, b) => compareLists([a.shortcode], [b.shortcode]) || byCreation(a, b));
  const records = ordered.map((form): Cells => {
    const version = ordered.filter((f) => f.shortcode === form.shortcode).indexOf(form) + 1;
    return [form.id, form.shortcode, form.survey, String(version), timestampOf(form.created), form.metadata];
  });
  return `surveyid,shortcode,survey_name,version,survey_created,metadata\n${naiveCsv(records)}`;
}

export const byCreation = (a: FormVersion, b: FormVersion) => compareLists([a.created, a.id], [b.created, b.id]);

/** Compares by the first elements that differ. */
export function compareLists(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [i, value] of a.entries()) {
    const other = b[i] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
