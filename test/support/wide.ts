import { armOf, parseArm } from '../../src/responses/arm.ts';
import type { Parameters } from '../chaos/requests/parameters.ts';
import { labelOf } from './choices.ts';

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

/** The shortcodes of a survey's form versions by id, the oldest first. */
export type Shortcodes = ReadonlyMap<string, string>;

/** A question of a form, in all its versions, and its responses. */
export interface Question<R extends Row = Row> {
  readonly shortcode: string;
  readonly question: string;
  readonly group: readonly R[];
}

/**
 * The questions that have responses, in the order of the columns. @param rows in the order of a
 * long file
 */
export function questionsOf<R extends Row>(
  rows: readonly R[],
  shortcodes: Shortcodes,
): Question<R>[] {
  const oldest = [...shortcodes.values()];
  const questions = [...Map.groupBy(rows, (row) => keyOf(row, shortcodes)).values()].map(
    (group) => ({
      shortcode: shortcodes.get(group[0]?.surveyid ?? '') ?? '',
      question: group[0]?.question_ref ?? '',
      group,
    }),
  );

  return questions.toSorted(
    (a, b) =>
      oldest.indexOf(a.shortcode) - oldest.indexOf(b.shortcode) ||
      smallestIndex(a) - smallestIndex(b) ||
      Buffer.compare(Buffer.from(a.question), Buffer.from(b.question)),
  );
}

export const smallestIndex = ({ group }: Question): number =>
  Math.min(...group.map(({ question_idx }) => Number(question_idx)));

/**
 * The names of the columns of questions, by what they are found by. @param questions in the order
 * of the columns
 */
export function columnNames(
  questions: readonly Question[],
  shortcodes: Shortcodes,
  columns: Parameters['columns'],
): Map<string, string> {
  const names = new Map<string, string>();
  for (const { shortcode, question, group } of questions) {
    const key = keyOf(group[0] as Row, shortcodes, columns);
    const name = columns === 'question' ? question : `${shortcode}.${question}`;
    const isReserved =
      [...FIXED, ...TIMING].includes(name) ||
      name.startsWith('metadata.') ||
      name.startsWith('arm.');
    const unreserved = isReserved ? `question.${name}` : name;
    const taken = new Set(names.values());
    let unique = unreserved;
    for (let i = 2; taken.has(unique); i++) unique = `${unreserved}_${i}`;
    if (!names.has(key)) names.set(key, unique);
  }

  return names;
}

/** What a response's column is found by. */
export const keyOf = (row: Row, shortcodes: Shortcodes, columns?: Parameters['columns']): string =>
  columns === 'question'
    ? row.question_ref
    : JSON.stringify([shortcodes.get(row.surveyid), row.question_ref]);

/** The first columns of a wide file. */
export const FIXED = [
  'userid',
  'parent_surveyid',
  'parent_shortcode',
  'flowid',
  'started',
  'ended',
  'attempts',
  'metadata',
];

/** With `timing=true`, those after `attempts`. */
export const TIMING = [
  'answers',
  'corrections',
  'survey_duration',
  'answer_time_min',
  'answer_time_median',
  'answer_time_75',
  'answer_time_90',
];
/** The first column that people can have typed. */
export const firstTyped = ({ timing }: Parameters): number =>
  FIXED.length + (timing ? TIMING.length : 0);

/**
 * The columns of a wide file, and what those of questions are found by. @param rows in the order of
 * a long file
 */
export function wideColumns(rows: readonly Row[], shortcodes: Shortcodes, parameters: Parameters) {
  const { columns, metadata = [], arm = [], timing } = parameters;
  const names = columnNames(questionsOf(rows, shortcodes), shortcodes, columns);
  const header: string[] = [
    ...FIXED.slice(0, -1),
    ...(timing ? TIMING : []),
    'metadata',
    ...metadata.map((key) => `metadata.${key}`),
    ...arm.map((name) => `arm.${name}`),
    ...names.values(),
  ];

  return { header, keys: [...names.keys()] };
}

/** The records of a participant. @param participant their responses, in the order of a long file */
export function wideRecords(
  participant: readonly Row[],
  { keys }: ReturnType<typeof wideColumns>,
  shortcodes: Shortcodes,
  parameters: Parameters,
): Cell[][] {
  const { repeats, columns, metadata = [], arm = [], timing } = parameters;
  const known = participant.filter((row) => keys.includes(keyOf(row, shortcodes, columns)));
  if (isLeftOut(known, shortcodes, parameters)) return [];
  const records = Map.groupBy(known, (row) =>
    JSON.stringify([row.parent_surveyid, row.parent_shortcode]),
  );

  return Array.from(records.values(), (record) => {
    const kept = repeats === 'first' ? firstFlows(record, shortcodes) : record;
    const [first, last] = [kept[0] as Row, kept.at(-1) as Row];
    const answers = new Map(
      kept.map((row) => [keyOf(row, shortcodes, columns), answerOf(row, parameters)]),
    );

    return [
      first.userid,
      first.parent_surveyid,
      first.parent_shortcode,
      last.flowid,
      first.timestamp,
      last.timestamp,
      String(Math.max(...flowsByForm(record, shortcodes))),
      ...(timing ? timingOf(kept, shortcodes) : []),
      last.metadata,
      ...metadata.map((key) => last.values[key] ?? null),
      ...arm.map((name) => armText(last, name)),
      ...keys.map((key) => answers.get(key) ?? null),
    ];
  });
}

/** Whether the parameters leave out a participant. @param participant all of their responses */
export const isLeftOut = (
  participant: readonly Row[],
  shortcodes: Shortcodes,
  parameters: Parameters,
): boolean => rulesOf(parameters).some(({ isBrokenBy }) => isBrokenBy(participant, shortcodes));

/** The rules by which parameters leave out participants. */
export const rulesOf = ({
  repeats,
  require_metadata: keys = [],
  require_question: questions = [],
}: Parameters): {
  readonly rule: string;
  readonly name: string | null;
  readonly isBrokenBy: (participant: readonly Row[], shortcodes: Shortcodes) => boolean;
}[] => [
  ...(repeats === 'drop'
    ? [
        {
          rule: 'repeats',
          name: null,
          isBrokenBy: (rows: readonly Row[], shortcodes: Shortcodes) =>
            flowsByForm(rows, shortcodes).some((flows) => flows > 1),
        },
      ]
    : []),
  ...keys.map((name) => ({
    rule: 'require_metadata',
    name,
    isBrokenBy: (rows: readonly Row[]) => rows.some(({ values }) => !Object.hasOwn(values, name)),
  })),
  ...[...new Set(questions)].map((name) => ({
    rule: 'require_question',
    name,
    isBrokenBy: (rows: readonly Row[]) => rows.every(({ question_ref }) => question_ref !== name),
  })),
];

/** How many flows there are of each form. */
function flowsByForm(rows: readonly Row[], shortcodes: Shortcodes): number[] {
  const byForm = Map.groupBy(rows, ({ surveyid }) => shortcodes.get(surveyid));
  return Array.from(byForm.values(), (some) => new Set(some.map(({ flowid }) => flowid)).size);
}

/** The responses of the first flow of each form in each record. */
export function firstFlows<R extends Row>(rows: readonly R[], shortcodes: Shortcodes): R[] {
  const formOf = ({ userid, parent_surveyid, parent_shortcode, surveyid }: Row) =>
    JSON.stringify([userid, parent_surveyid, parent_shortcode, shortcodes.get(surveyid)]);
  const flows = new Map(rows.toReversed().map((row) => [formOf(row), row.flowid]));
  return rows.filter((row) => flows.get(formOf(row)) === row.flowid);
}

/** The text that a response has in its column. */
export function answerOf(
  { response, translated_response: translated, question_text: text }: Row,
  { value }: Parameters,
) {
  const label = labelOf(response, text);
  if (value === 'label') return label ?? response;
  if (value === 'translated_label') return label ?? translated ?? response;
  return value === 'translated' ? (translated ?? response) : response;
}

/** The cell of a treatment arm. */
export function armText({ values }: Row, name: string): Cell {
  const { seed = '', [name]: stored } = values;
  if (stored !== undefined) return stored;
  const arm = parseArm(name);
  return arm && /^(0|[1-9]\d{0,9})$/.test(seed) && Number(seed) < 2 ** 32
    ? String(armOf(arm, Number(seed)))
    : null;
}

/** The cells of {@link TIMING}. @param kept the responses of a record that count, in order */
function timingOf(kept: readonly Row[], shortcodes: Shortcodes): Cell[] {
  const final = new Map(kept.map((row) => [keyOf(row, shortcodes), microsecondsOf(row.timestamp)]));
  const times = [...final.values()].toSorted((a, b) => a - b);
  const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  gaps.sort((a, b) => a - b);
  const percentile = (percent: number) => {
    const position = percent * (gaps.length - 1);
    const low = gaps[Math.floor(position / 100)] ?? 0;
    const high = gaps[Math.ceil(position / 100)] ?? 0;
    return seconds(Math.round(low + ((high - low) * (position % 100)) / 100));
  };

  return [
    String(times.length),
    String(kept.length - times.length),
    seconds((times.at(-1) ?? 0) - (times[0] ?? 0)),
    ...(gaps.length > 0 ? [0, 50, 75, 90].map(percentile) : [null, null, null, null]),
  ];
}

const microsecondsOf = (timestamp: string) =>
  1000 * Date.parse(timestamp) + Number(/\.\d{3}(\d{3})Z$/.exec(timestamp)?.[1] ?? 0);
const seconds = (microseconds: number) => String(Number((microseconds / 1e6).toFixed(6)));
