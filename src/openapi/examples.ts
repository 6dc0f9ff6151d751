import { csvCell } from '../encode/records.ts';
import { CSV_COLUMNS, JSON_MEMBERS, columnNamed } from '../responses/columns.ts';

/** Example bodies, taken from the demo data of `npm start`. */

const SURVEY = {
  id: '2bcca5bb-2bb8-41f8-a89b-f66be0f825e9',
  survey_name: 'Health & Habits 2026 – Saúde',
  shortcode: 'healthfood',
  title: 'What we eat',
  formid: '88992361',
  created: '2026-02-02T09:00:00.000Z',
  metadata: { wave: 1 },
  translation_conf: {},
  off_time: null,
  timeouts: null,
};

const RESPONSE = Object.fromEntries(JSON_MEMBERS.map(({ name, example }) => [name, example]));

const cellOf = (value: unknown) =>
  value === null ? '' : csvCell(typeof value === 'string' ? value : jsonbText(value as object));
/** Members as Postgres prints jsonb. */
const jsonbText = (value: object) =>
  `{${Object.entries(value)
    .map((member) => member.map((one) => JSON.stringify(one)).join(': '))
    .join(', ')}}`;
const CSV = `${CSV_COLUMNS.join(',')}\n${CSV_COLUMNS.map((name) => cellOf(columnNamed(name).example)).join(',')}\n`;

const FORM_DATA = `surveyid,shortcode,survey_name,version,survey_created,metadata
7fd35bd3-9e08-42a9-8352-e5065edab537,healthfood,Health & Habits 2026 – Saúde,1,2026-01-05T09:00:00.123456Z,"{""wave"": 1}"
`;

const QUESTION = {
  column: 'healthfood.water',
  shortcode: 'healthfood',
  question_ref: 'water',
  question_idx: '2',
  question_text:
    'Where does your drinking water come from, on most days?\nA) A tap at home\nB) A well or a pump nearby\nC) A river, a lake or rain',
  responses: 306,
  participants: 306,
  first: '2026-01-07T07:33:44.771984Z',
  last: '2026-03-11T18:19:44.451131Z',
  choices: [
    { value: 'A', label: 'A tap at home' },
    { value: 'B', label: 'A well or a pump nearby' },
    { value: 'C', label: 'A river, a lake or rain' },
  ],
};

const CODEBOOK_CSV = `column,shortcode,question_ref,question_idx,question_text,responses,participants,first,last,choices
healthstart.consent,healthstart,consent,0,Do you want to take part? You can stop at any time.,400,400,2026-01-06T06:00:00.000Z,2026-03-01T18:15:00.000Z,
`;

export const examples = {
  surveys: [SURVEY],
  page: { responses: [RESPONSE] },
  ndjson: `${JSON.stringify(RESPONSE)}\n`,
  csv: CSV,
  xlsx: 'PK\u0003\u0004…',
  formData: FORM_DATA,
  codebook: { questions: [QUESTION] },
  codebookCsv: CODEBOOK_CSV,
  summary: {
    responses: 107,
    participants: 28,
    first: '2026-01-06T06:00:00.000Z',
    last: '2026-01-07T19:17:23.934696Z',
    days: [
      { day: '2026-01-06', responses: 59, participants: 17 },
      { day: '2026-01-07', responses: 48, participants: 12 },
    ],
    left_out: 0,
    forms: [
      { shortcode: 'healthstart', responses: 103, participants: 28 },
      { shortcode: 'healthfood', responses: 4, participants: 1 },
    ],
    left_out_by: [],
  },
  answers: {
    records: 400,
    left_out: 0,
    questions: [
      {
        column: 'healthfood.water',
        shortcode: 'healthfood',
        question_ref: 'water',
        records: 306,
        distinct: 3,
        values: [
          { value: 'A', records: 166 },
          { value: 'B', records: 95 },
        ],
        other: 45,
      },
    ],
  },
  answersCsv:
    'column,shortcode,question_ref,value,records\nhealthfood.water,healthfood,water,A,166\nhealthfood.water,healthfood,water,,140\n',
  digests: {
    version: 1,
    interval: 'day',
    forms: '0cc609cbdada9a3c8dc5fb0fb259bf67',
    digests: [
      {
        start: '2026-01-06T00:00:00.000Z',
        responses: 63,
        digest: '41ccfb143a8b400ee12b661ad4d70db3',
      },
      {
        start: '2026-01-07T00:00:00.000Z',
        responses: 44,
        digest: '974ad0898eff27dd57ccdb7f66570027',
      },
    ],
  },
  key: {
    email: 'you@example.org',
    expires: '2027-01-06T06:00:00.000Z',
    limits: {
      v: 1,
      surveys: [SURVEY.survey_name],
      without_questions: 2,
      metadata: ['cluster'],
      pseudonyms: '0f5a9b72',
    },
  },
  openApi: {
    openapi: '3.1.1',
    info: { title: 'Survey Response Export Service', version: '1.1.0' },
    paths: {},
  },
};
