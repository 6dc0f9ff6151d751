import { awkwardText } from '../../support/awkward-text.ts';
import { type Random, below, pick } from '../../support/random.ts';
import {
  type Account,
  type FormVersion,
  type Moment,
  type Response,
  timestampOf,
} from './account.ts';
import { primaryKeyOf } from './order.ts';

/*
 * Random rows. Whatever a request can name has few values, so that accounts share them and rows
 * tie. The first difference between values that are sorted is a digit or their length, so that
 * every collation sorts them in the same order.
 */

/** Some are a prefix of another, or differ only in case. */
export const SURVEYS = [
  'Health',
  'health',
  'Health & Habits',
  'Heal',
  'Health\r\n"2026", 100% a+b\\c',
];
export const SHORTCODES = ['f0', 'f1', 'f10', 'f2.x'];
export const USERIDS = ['u0', 'u1', 'u10', 'u2, "A"\r\n', 'u3\\é', ''];
export const QUESTIONS = ['q0', 'q1', 'q10', 'q2,"B"\n', 'q3\\n'];
export const DAY: Moment = 86_400_000_000;
const TIMES: readonly Moment[] = [
  0,
  1,
  1000,
  43_770_047,
  DAY - 1,
  DAY,
  DAY + 1,
  2 * DAY,
  8 * DAY + 1,
];
const FLOWS = ['1600000000001', '-5', '9223372036854775807'];
const TIMEOUTS = [null, '[1, 2]', '{"a": "\\n"}', '"x"', '12345678901234567890.10'];

/** The rows of the larger surveys, and the characters of a row's response. */
const SIZES = {
  // Two pages, or many if results are limited.
  'few rows': { rows: 700, length: (row: number) => row % 150 },
  // The first page has large rows, so the service plans many following pages of few rows.
  'many bytes': { rows: 1200, length: (row: number) => (row < 500 ? 6_000 : 10) },
  // With limited results, the first page has only a few rows, and these are large: the service
  // plans more small pages than one query for page boundaries returns, and reads them in parallel.
  'many pages': { rows: 900, length: (row: number) => (row < 10 ? 60_000 : 10) },
};
export type Sized = keyof typeof SIZES;
export const SIZED = Object.keys(SIZES) as Sized[];
export const isSized = (survey: string) => Object.hasOwn(SIZES, survey);
/** So few that answers to a question are in more groups than are listed. */
const RESPONSES_PER_PARTICIPANT = 20;

export function randomUuid(random: Random): string {
  const digits = Array.from({ length: 32 }, () => below(random, 16).toString(16)).join('');
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}

/** Includes formulas, and texts that look like null. */
const TEXTS = ['', '=1+1', '-5', '\tx', '＠a', 'NULL', '\\N', 'a\r\nb', '"', 'x_x0041_', 'a;=1'];
const NUMBERS = ['', '0', '-5', '1.50', '123456789012345'];
/** Numbers of any size, and texts that are nearly numbers. */
const NEARLY_NUMBERS = [
  ...['0', '-0', '0.00', '1', '1.50', '1.5', '2', '100', '-3', '-1', '4', '20', '0.1', '0.15'],
  ...['-12345.678', '999999999999999', '-999999999999999', '0.00000000000001', '1234567890123456'],
  ...['0.000000000000001', '007', '1e3', '+1', '.5', '1.', '-', '١', '1\n'],
];
const randomText = (random: Random): string =>
  random() < 0.5 ? pick(random, TEXTS) : awkwardText(random);

/** Appends the account's marker. An empty text stays empty. */
const marked = ({ marker }: Account, text: string): string => (text === '' ? '' : text + marker);

/** A response's text: to the first question, mostly a number. */
export function randomAnswer(random: Random, account: Account, question: string): string {
  if (question === QUESTIONS[0] && random() < 0.9) return pick(random, NUMBERS);
  return random() < 0.2
    ? pick(random, ['A', 'b', 'C', '007'])
    : marked(account, randomText(random));
}

export const randomForm = (
  random: Random,
  { marker }: Account,
  survey: string,
  shortcode = pick(random, SHORTCODES),
): FormVersion => ({
  id: randomUuid(random),
  survey,
  shortcode,
  title: randomText(random) + marker,
  created: pick(random, TIMES),
  metadata: `{"m": "${marker}", "wave": 1.50}`,
  closes: random() < 0.5 ? null : timestampOf(pick(random, TIMES)),
  timeouts: pick(random, TIMEOUTS),
});

/** Responses to these form versions, without those whose primary key is taken. */
export function randomResponses(
  random: Random,
  account: Account,
  forms: readonly FormVersion[],
  count: number,
) {
  if (forms.length === 0) return [];
  const taken = new Set(account.data.responses.map(primaryKeyOf));
  const responses = Array.from({ length: count }, () => {
    const isTie = random() < 0.5;
    const some = <T>(all: readonly T[], from: number) =>
      pick(random, isTie ? all.slice(from, from + 2) : all);
    const question = some(QUESTIONS, 1);
    return responseOf(random, account, pick(random, forms), {
      at: some(TIMES, 4),
      userid: some(USERIDS, 1),
      question_ref: question,
      question_idx: String(below(random, 4)),
      response: randomAnswer(random, account, question),
    });
  });
  return responses.filter((response) => taken.size < taken.add(primaryKeyOf(response)).size);
}

type Given = Pick<Response, 'at' | 'userid' | 'question_ref' | 'question_idx' | 'response'>;

function responseOf(random: Random, account: Account, { id }: FormVersion, given: Given): Response {
  const { marker } = account;
  return {
    surveyid: id,
    parent_surveyid: pick(random, [null, id]),
    parent_shortcode: pick(random, SHORTCODES),
    flowid: pick(random, FLOWS),
    question_text: randomText(random) + marker + pick(random, linesOf(marker)),
    timestamp: timestampOf(given.at),
    ...pick(random, metadataOf(marker)),
    pageid: pick(random, [null, marker]),
    translated_response: random() < 0.3 ? marked(account, randomText(random)) : null,
    ...given,
  };
}

/** The lines of a question after the first: none, choices, and what only looks like choices. */
const linesOf = (m: string) => [
  '',
  `\n- A. ${m}, "yes"\r\nb) نعم`,
  `\nA. ${m}`,
  `\nb. ${m}\nc. no`,
];

/** The keys of the metadata, and one that none has. */
export const METADATA_KEYS = ['ad_id', 'm', 'none'];

const metadataOf = (m: string): Pick<Response, 'metadata' | 'values'>[] => [
  { metadata: null, values: {} },
  { metadata: '{}', values: {} },
  { metadata: `{"m": "${m}", "ad_id": null}`, values: { m } },
  { metadata: `{"m": "${m}", "ad_id": "2, \\"3\\"\\n"}`, values: { m, ad_id: '2, "3"\n' } },
  {
    metadata: `{"m": "${m}", "ad_id": 12345678901234567890.10}`,
    values: { m, ad_id: '12345678901234567890.10' },
  },
  { metadata: `{"m": "${m}", "seed": 4294967295}`, values: { m, seed: '4294967295' } },
  {
    metadata: `{"m": "${m}", "seed": "7", "seed_2": "=1"}`,
    values: { m, seed: '7', seed_2: '=1' },
  },
  { metadata: `{"m": "${m}", "seed": 4294967296}`, values: { m, seed: '4294967296' } },
];

/**
 * A survey of many rows: participants respond one after another, at times that follow each other.
 * Their last answers are numbers.
 */
export function sizedSurvey(random: Random, account: Account, survey: Sized) {
  const forms = ['f0', 'f0', 'f1'].map((shortcode) =>
    randomForm(random, account, survey, shortcode),
  );
  const { rows, length } = SIZES[survey];
  const numbers = NEARLY_NUMBERS.slice(0, pick(random, [14, Infinity]));
  const textOf = (row: number) =>
    `${marked(account, `${row} "quoted", äß€😀\n`)}${'x'.repeat(length(row))}`;
  const responses = Array.from({ length: rows }, (_, row) =>
    responseOf(random, account, forms[row % 3] as FormVersion, {
      at: 1_000_047 * Math.floor(row / 3),
      userid: `u${String(Math.floor(row / RESPONSES_PER_PARTICIPANT)).padStart(3, '0')}`,
      question_ref: `q${row % RESPONSES_PER_PARTICIPANT}`,
      question_idx: String(row % RESPONSES_PER_PARTICIPANT),
      response: (row + 1) % RESPONSES_PER_PARTICIPANT ? textOf(row) : pick(random, numbers),
    }),
  );
  return { forms, responses };
}
