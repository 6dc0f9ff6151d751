import { labelOf } from './choices.ts';
import { naiveCsv, parseCsv } from './csv.ts';
import { type TestSurvey, copyResponses } from './data.ts';

type Cell = string | null;

/** A response, with the names and texts of docs/api.md. */
export interface Row {
  readonly parent_surveyid: Cell;
  readonly parent_shortcode: string;
  readonly surveyid: string;
  readonly flowid: string;
  readonly userid: string;
  readonly question_ref: string;
  readonly question_idx: string;
  readonly question_text: string;
  readonly response: string;
  readonly timestamp: string;
  readonly metadata: Cell;
  readonly pageid: Cell;
  readonly translated_response: Cell;
  /** The texts of the metadata's keys, without those that are null. */
  readonly values: Readonly<Record<string, string>>;
}

/** The parameters of the wide layout. */
export interface WideParameters {
  readonly value?: 'response' | 'translated' | 'label' | undefined;
  readonly repeats?: 'last' | 'first' | 'drop' | undefined;
  readonly columns?: 'form_question' | 'question' | undefined;
  readonly metadata?: readonly string[] | undefined;
  readonly require_metadata?: readonly string[] | undefined;
}

/** The shortcodes of a survey's form versions by id, the oldest first. */
export type Shortcodes = ReadonlyMap<string, string>;

/** A question of a form, in all its versions, and its responses. */
export interface Question<R extends Row = Row> {
  readonly shortcode: string;
  readonly question: string;
  readonly group: readonly R[];
}

/** The questions that have responses, in the order of the columns. @param rows in the order of a long file */
export function questionsOf<R extends Row>(rows: readonly R[], shortcodes: Shortcodes): Question<R>[] {
  const oldest = [...shortcodes.values()];
  const questions = [...Map.groupBy(rows, (row) => keyOf(row, shortcodes)).values()].map((group) => ({
    shortcode: shortcodes.get(group[0]?.surveyid ?? '') ?? '',
    question: group[0]?.question_ref ?? '',
    group,
  }));
  return questions.toSorted(
    (a, b) =>
      oldest.indexOf(a.shortcode) - oldest.indexOf(b.shortcode) ||
      smallestIndex(a) - smallestIndex(b) ||
      Buffer.compare(Buffer.from(a.question), Buffer.from(b.question)),
  );
}

export const smallestIndex = ({ group }: Question): number =>
  Math.min(...group.map(({ question_idx }) => Number(question_idx)));

export const columnName = ({ shortcode, question }: Question, columns: WideParameters['columns']): string =>
  columns === 'question' ? question : `${shortcode}.${question}`;

/** What a response's column is found by. */
const keyOf = (row: Row, shortcodes: Shortcodes, columns?: WideParameters['columns']): string =>
  columns === 'question' ? row.question_ref : JSON.stringify([shortcodes.get(row.surveyid), row.question_ref]);

/** The first columns of a wide file. */
export const FIXED = [
  ...['userid', 'parent_surveyid', 'parent_shortcode', 'flowid', 'started', 'ended', 'attempts', 'metadata'],
];

/** The columns of a wide file, and what those of questions are found by. @param rows in the order of a long file */
export function wideColumns(rows: readonly Row[], shortcodes: Shortcodes, parameters: WideParameters) {
  const { columns, metadata = [] } = parameters;
  const names = new Map(
    questionsOf(rows, shortcodes).map((question) => [
      keyOf(question.group[0] as Row, shortcodes, columns),
      columnName(question, columns),
    ]),
  );
  const header: string[] = [...FIXED, ...metadata.map((key) => `metadata.${key}`), ...names.values()];
  return { header, keys: [...names.keys()] };
}

/** The records of a participant. @param participant their responses, in the order of a long file */
export function wideRecords(
  participant: readonly Row[],
  { keys }: ReturnType<typeof wideColumns>,
  shortcodes: Shortcodes,
  parameters: WideParameters,
): Cell[][] {
  const { repeats, columns, metadata = [] } = parameters;
  const known = participant.filter((row) => keys.includes(keyOf(row, shortcodes, columns)));
  if (isLeftOut(known, shortcodes, parameters)) return [];
  const records = Map.groupBy(known, (row) => JSON.stringify([row.parent_surveyid, row.parent_shortcode]));
  return Array.from(records.values(), (record) => {
    const kept = repeats === 'first' ? onlyFirstFlows(record, shortcodes) : record;
    const [first, last] = [kept[0] as Row, kept.at(-1) as Row];
    const answers = new Map(kept.map((row) => [keyOf(row, shortcodes, columns), answerOf(row, parameters)]));
    return [
      first.userid,
      first.parent_surveyid,
      first.parent_shortcode,
      last.flowid,
      first.timestamp,
      last.timestamp,
      String(Math.max(...flowsByForm(record, shortcodes))),
      last.metadata,
      ...metadata.map((key) => last.values[key] ?? null),
      ...keys.map((key) => answers.get(key) ?? null),
    ];
  });
}

/** Whether the parameters leave out a participant. @param participant all of their responses */
export const isLeftOut = (
  participant: readonly Row[],
  shortcodes: Shortcodes,
  { repeats, require_metadata: required = [] }: WideParameters,
): boolean =>
  (repeats === 'drop' && flowsByForm(participant, shortcodes).some((flows) => flows > 1)) ||
  required.some((key) => participant.some(({ values }) => !Object.hasOwn(values, key)));

/** How many flows there are of each form. */
function flowsByForm(rows: readonly Row[], shortcodes: Shortcodes): number[] {
  const byForm = Map.groupBy(rows, ({ surveyid }) => shortcodes.get(surveyid));
  return Array.from(byForm.values(), (some) => new Set(some.map(({ flowid }) => flowid)).size);
}

function onlyFirstFlows(rows: readonly Row[], shortcodes: Shortcodes): Row[] {
  const flows = new Map<string | undefined, string>();
  for (const { surveyid, flowid } of rows.toReversed()) flows.set(shortcodes.get(surveyid), flowid);
  return rows.filter(({ surveyid, flowid }) => flows.get(shortcodes.get(surveyid)) === flowid);
}

function answerOf({ response, translated_response: translated, question_text: text }: Row, { value }: WideParameters) {
  if (value === 'label') return labelOf(response, text);
  return value === 'translated' ? (translated ?? response) : response;
}

/** The expected wide file of a survey, byte for byte. @param isSelected whether it has a response; all if omitted */
export async function wideCsv(survey: TestSurvey, isSelected: (row: Row) => boolean = () => true): Promise<string> {
  const shortcodes = new Map(survey.forms.map(({ id, shortcode }) => [id, shortcode]));
  const rows = (parseCsv(await copyResponses(survey)) as unknown as Row[]).filter(isSelected);
  const columns = wideColumns(rows, shortcodes, {});
  const participants = Map.groupBy(rows, ({ userid }) => userid);
  const ordered = [...participants.keys()].toSorted().map((userid) => participants.get(userid) ?? []);
  return naiveCsv([columns.header, ...ordered.flatMap((some) => wideRecords(some, columns, shortcodes, {}))]);
}
