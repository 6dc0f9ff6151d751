import { naiveCsv } from '../../support/csv.ts';
import { digestsOf } from '../../support/digests.ts';
import { type Question, type Shortcodes, isLeftOut, rulesOf } from '../../support/wide.ts';
import {
  type Account,
  type Data,
  type FormVersion,
  type Response,
  timestampOf,
} from '../model/account.ts';
import { byCreation, shortcodesOf, tokenOf } from '../model/order.ts';
import type { Parameters } from '../requests/parameters.ts';
import { formsOf, select } from './select.ts';
import {
  LONG,
  codebookTable,
  formDataTable,
  longHeader,
  longRecord,
  participantsOf,
} from './tables.ts';

/*
 * The JSON that docs/api.md describes, written member by member.
 */

const quoted = (text: string | null) => JSON.stringify(text);

/** JSON in which no line splitter finds the end of a line. */
const escaped = (json: string): string =>
  json.replace(
    /[\u0085\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** @param members JSON by name */
const jsonOf = (members: Readonly<Record<string, string>>): string =>
  escaped(
    `{${Object.entries(members)
      .map(([name, json]) => `${quoted(name)}:${json}`)
      .join(',')}}`,
  );

export const keyJson = ({ email }: Account, limits: object | null): string =>
  JSON.stringify({ email, expires: null, limits });

export function surveysJson({ marker }: Account, forms: readonly FormVersion[]): string {
  const newestFirst = forms.toSorted((a, b) => b.created - a.created || byCreation(a, b));
  const surveys = newestFirst.map(
    ({ id, survey, shortcode, title, created, metadata, closes, timeouts }) =>
      jsonOf({
        id: quoted(id),
        survey_name: quoted(survey),
        shortcode: quoted(shortcode),
        title: quoted(title),
        formid: quoted(marker),
        created: quoted(timestampOf(created)),
        metadata,
        translation_conf: metadata,
        off_time: quoted(closes),
        timeouts: timeouts ?? 'null',
      }),
  );
  return `[${surveys.join()}]`;
}

/** The members of a response before its token. */
const MEMBERS = LONG.filter((name) => name !== 'ad_id').toSpliced(2, 0, 'shortcode');

export function responseJson(row: Response, shortcode: string, { omit = [] }: Parameters): string {
  const hasToken = !['timestamp', 'userid', 'question_ref', 'surveyid', 'token'].some((name) =>
    omit.includes(name),
  );
  const values = { ...row, shortcode };
  const members = MEMBERS.map((name) => {
    const value = values[name as 'response'];
    return [name, name === 'metadata' ? (value ?? 'null') : quoted(value)] as const;
  });
  const kept = members.filter(([name]) => !omit.includes(name));
  return jsonOf({ ...Object.fromEntries(kept), ...(hasToken && { token: quoted(tokenOf(row)) }) });
}

export function digestsJson(parameters: Parameters, data: Data): string {
  const forms = formsOf(parameters, data);
  const records = select(parameters, forms, data).map((row) => longRecord(row, parameters));
  const [csv, formData] = [
    naiveCsv([longHeader(parameters), ...records]),
    naiveCsv(formDataTable(forms)),
  ];
  return JSON.stringify(digestsOf(Buffer.from(csv), Buffer.from(formData), parameters.interval));
}

/** The members of a codebook that are not strings. */
const JSON_MEMBERS = new Set(['responses', 'participants', 'choices']);

export function codebookJson(
  questions: readonly Question<Response>[],
  shortcodes: Shortcodes,
  parameters: Parameters,
): string {
  const [names = [], ...records] = codebookTable(questions, shortcodes, parameters);
  const valueOf = (cell: string | null, name: string): unknown =>
    JSON_MEMBERS.has(name) ? JSON.parse(cell ?? 'null') : cell;
  const entries = records.map((cells) =>
    Object.fromEntries(names.map((name, i) => [name, valueOf(cells[i] ?? null, name ?? '')])),
  );
  return escaped(JSON.stringify({ questions: entries }));
}

const countsOf = (rows: readonly Response[]) => ({
  responses: rows.length,
  participants: participantsOf(rows),
});

/** @param selected all responses, also of those participants whom the parameters leave out */
export function summaryJson(
  selected: readonly Response[],
  forms: readonly FormVersion[],
  parameters: Parameters,
) {
  const { timezone = 'UTC' } = parameters;
  const shortcodes = shortcodesOf(forms);
  const participants = [...Map.groupBy(selected, ({ userid }) => userid).values()];
  const leftOut = participants.filter((rows) => isLeftOut(rows, shortcodes, parameters));
  const without = new Set(leftOut.flat());
  const kept = selected.filter((row) => !without.has(row));
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' });
  const byDay = Map.groupBy(kept, ({ timestamp }) => format.format(Date.parse(timestamp)));
  const byForm = Map.groupBy(kept, ({ surveyid }) => shortcodes.get(surveyid) ?? '');
  const summary = {
    ...countsOf(kept),
    first: kept[0]?.timestamp ?? null,
    last: kept.at(-1)?.timestamp ?? null,
    days: Array.from(byDay, ([day, rows]) => Object.assign({ day }, countsOf(rows))),
    left_out: leftOut.length,
    forms: [...new Set(shortcodes.values())]
      .filter((shortcode) => byForm.has(shortcode))
      .map((shortcode) => Object.assign({ shortcode }, countsOf(byForm.get(shortcode) ?? []))),
    left_out_by: rulesOf(parameters).map(({ rule, name, isBrokenBy }) => {
      const userids = participants
        .filter((rows) => isBrokenBy(rows, shortcodes))
        .map(([row]) => row?.userid ?? '')
        .toSorted((a, b) => (a < b ? -1 : 1));
      return { rule, name, participants: userids.length, userids: userids.slice(0, 100) };
    }),
  };
  return escaped(JSON.stringify(summary));
}
