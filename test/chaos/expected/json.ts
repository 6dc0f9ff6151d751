import { naiveCsv } from '../../support/csv.ts';
import { digestsOf } from '../../support/digests.ts';
import {
  type Question,
  type Shortcodes,
  firstFlows,
  isLeftOut,
  keyOf,
  questionsOf,
  rulesOf,
} from '../../support/wide.ts';
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

/** Escapes what ends a line for some programs. */
export const withoutLineEnds = (json: string): string =>
  json.replace(
    /[\u0085\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** @param members JSON by name */
const jsonOf = (members: Readonly<Record<string, string>>): string =>
  withoutLineEnds(
    `{${Object.entries(members)
      .map(([name, json]) => `${quoted(name)}:${json}`)
      .join(',')}}`,
  );

const listOf = (jsons: readonly string[]) => `[${jsons.join(',')}]`;

/** @param limits as JSON */
export const keyJson = ({ email }: Account, limits: string): string =>
  jsonOf({ email: quoted(email), expires: 'null', limits });

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
  return listOf(surveys);
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
  const entries = records.map((cells) => {
    const jsons = cells.map((cell, i) =>
      JSON_MEMBERS.has(names[i] ?? '') ? (cell ?? 'null') : quoted(cell),
    );
    return jsonOf(Object.fromEntries(jsons.map((json, i) => [names[i], json])));
  });
  return jsonOf({ questions: listOf(entries) });
}

/** @param selected all responses, also of those participants whom the parameters leave out */
export function summaryJson(
  selected: readonly Response[],
  forms: readonly FormVersion[],
  parameters: Parameters,
) {
  const { timezone = 'UTC' } = parameters;
  const participants = [...Map.groupBy(selected, ({ userid }) => userid).values()];
  const leftOut = participants.filter((participant) =>
    isLeftOut(participant, shortcodesOf(forms), parameters),
  );
  const without = new Set(leftOut.flat());
  const rows = selected.filter((row) => !without.has(row));
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' });
  const days = [...Map.groupBy(rows, ({ timestamp }) => format.format(Date.parse(timestamp)))].map(
    ([day, group]) =>
      jsonOf({
        day: quoted(day),
        responses: String(group.length),
        participants: participantsOf(group),
      }),
  );
  return jsonOf({
    responses: String(rows.length),
    participants: participantsOf(rows),
    first: quoted(rows[0]?.timestamp ?? null),
    last: quoted(rows.at(-1)?.timestamp ?? null),
    days: listOf(days),
    left_out: String(leftOut.length),
    forms: listOf(formCounts(rows, forms)),
    left_out_by: listOf(
      rulesOf(parameters).map(({ rule, name, isBrokenBy }) => {
        const broken = participants.filter((participant) =>
          isBrokenBy(participant, shortcodesOf(forms)),
        );
        const userids = broken
          .map(([row]) => row?.userid ?? '')
          .toSorted((a, b) => (a < b ? -1 : 1));
        return jsonOf({
          rule: quoted(rule),
          name: quoted(name),
          participants: String(broken.length),
          userids: listOf(userids.slice(0, 100).map(quoted)),
        });
      }),
    ),
    ...(parameters.stops && { stops: JSON.stringify(stopsOf(selected, rows, forms, parameters)) }),
  });
}

/**
 * How many participants have their last response to each question. @param kept the responses of
 * those who are not left out
 */
function stopsOf(
  selected: readonly Response[],
  kept: readonly Response[],
  forms: readonly FormVersion[],
  { repeats }: Parameters,
) {
  const shortcodes = shortcodesOf(forms);
  const known = repeats === 'first' ? firstFlows(kept, shortcodes) : kept;
  const last = new Map(known.map((row) => [row.userid, row]));
  const stops = Map.groupBy(last.values(), (row) => keyOf(row, shortcodes));
  return questionsOf(selected, shortcodes).map(({ shortcode, question, group: [first] }) => ({
    shortcode,
    question_ref: question,
    participants: stops.get(keyOf(first as Response, shortcodes))?.length ?? 0,
  }));
}

function formCounts(rows: readonly Response[], forms: readonly FormVersion[]): string[] {
  const shortcodes = shortcodesOf(forms);
  const ordered = [...new Set(shortcodes.values())];
  const byForm = Map.groupBy(rows, ({ surveyid }) => shortcodes.get(surveyid) ?? '');
  return ordered
    .filter((shortcode) => byForm.has(shortcode))
    .map((shortcode) => {
      const group = byForm.get(shortcode) ?? [];
      return jsonOf({
        shortcode: quoted(shortcode),
        responses: String(group.length),
        participants: participantsOf(group),
      });
    });
}
