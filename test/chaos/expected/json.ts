import type { Account, FormVersion, Response } from '../model/account.ts';
import { compareLists, tokenOf } from '../model/order.ts';
import { timestampOf } from '../model/moment.ts';

/*
 * The JSON that docs/api.md describes, written member by member.
 */

export function surveysJson(account: Account, forms: readonly FormVersion[]): string {
  const newestFirst = forms.toSorted((a, b) => compareLists([-a.created, a.id], [-b.created, b.id]));
  return `[${newestFirst.map((form) => surveyJson(account, form)).join(',')}]`;
}

function surveyJson({ marker }: Account, form: FormVersion): string {
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

export function responseJson(row: Response, { id, shortcode }: FormVersion): string {
  return jsonOf([
    ['parent_surveyid', quoted(row.parentId)],
    ['parent_shortcode', quoted(row.parentShortcode)],
    ['shortcode', quoted(shortcode)],
    ['surveyid', quoted(id)],
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

/** @param members names and JSON */
export const jsonOf = (members: readonly (readonly [string, string])[]): string =>
  `{${members.map(([name, value]) => `${quoted(name)}:${value}`).join(',')}}`.replace(
    /[\u0085\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
