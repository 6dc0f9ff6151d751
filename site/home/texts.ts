/*
 * Every text of the page, so that it can be translated: translate this file, and the title and the
 * note in home.html. Names that come from the API (surveys, forms, questions) are not translated.
 */

import type { Limits } from './limits.ts';

/** The language of the texts. Numbers and dates are written as in that language. */
export const LANGUAGE = 'en-GB';

/** Orders names, and the numbers in them. */
export const collator = new Intl.Collator(LANGUAGE, { numeric: true });

const numbers = new Intl.NumberFormat(LANGUAGE);
/** A whole number, with separators: 4,368. */
export const number = (value: number) => numbers.format(value);

/** The reader's time zone, by its name in the IANA database. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
/** A time zone as people write it: America/New York. @param name in the IANA database */
const zoneName = (name: string) => name.replaceAll('_', ' ');
const TIMES = `Times are in the time zone ${zoneName(TIME_ZONE)}.`;

const moments = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium', timeStyle: 'short' });
/** A time in the reader's zone: 1 Mar 2026, 09:30. */
export const moment = (iso: string) => moments.format(new Date(iso));

const dayNames = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium', timeZone: 'UTC' });
/** A day: 1 Mar 2026. @param day YYYY-MM-DD */
export const date = (day: string) => dayNames.format(new Date(`${day}T00:00Z`));

const ranges = new Intl.DateTimeFormat(LANGUAGE, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

/** A month: March 2026. @param day YYYY-MM-DD, in the month */
const month = (day: string) => months.format(new Date(`${day}T00:00Z`));
const months = new Intl.DateTimeFormat(LANGUAGE, {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

/** A number and what it counts: `1 answer`, `4,368 answers`. */
const counted = (count: number, one: string, many: string) =>
  `${number(count)} ${count === 1 ? one : many}`;
export const participants = (count: number) => counted(count, 'participant', 'participants');
/** One participant's answer to one question, which the API calls a response. */
export const answers = (count: number) => counted(count, 'answer', 'answers');

/** What follows the first items of a list. @param others the number of the other items */
export const andMore = (others: number) => (others > 0 ? ` and ${number(others)} more` : '');

/** A form. Its title and its shortcode are often the same. */
export const formName = (title: string, shortcode: string) =>
  title === shortcode ? title : `${title} (${shortcode})`;

export const page = {
  name: 'Survey data',
  skip: 'Skip to the content',
  reference: 'For programmers',
  loading: 'Loading…',
  counting: 'Counting…',
  retry: 'Try again',
  more: 'Show more',
};

export const copying = { copy: 'Copy', copied: 'Copied', notCopied: 'Copy failed' };

export const key = {
  title: 'Your API key',
  label: 'API key',
  show: 'Show key',
  hide: 'Hide key',
  lead: 'See your surveys and download their answers.',
  note: 'You got the key from whoever runs this service. It is sent only there, and forgotten when you close or reload the page.',
  keep: 'Keep in this tab',
  keepNote:
    'Until you close it, even after a reload. Other tabs of this service that you open get the key too.',
  open: 'Show my surveys',
  linked: (survey: string) => `This link opens the survey “${survey}”. Enter your key to see it.`,
  empty: 'Paste your key first.',
  malformed:
    'This is not a complete key of this service: sres_ or sresl_, then 49 letters and digits. Copy all of it again.',
  wrong:
    'This key does not work here. It may have expired, been revoked, or belong to another service. Ask whoever gave it to you for a new one.',
  revoked: 'Your key no longer works: it has expired or been revoked. Enter another one.',
  owner: (email: string) => `Key for ${email}`,
  expires: (at: string) => `(expires ${moment(at)})`,
  limited: 'Limited key',
  /** What a limited key sees. */
  limits: ({
    surveys,
    shortcodes,
    questions,
    without_questions,
    metadata,
    pageid,
    pseudonyms,
  }: Limits) => {
    const limits = [
      surveys && `only ${counted(surveys.length, 'survey', 'surveys')}`,
      shortcodes && `only ${counted(shortcodes.length, 'form', 'forms')}`,
      questions && `only ${counted(questions.length, 'question', 'questions')}`,
      without_questions && `without ${counted(without_questions, 'question', 'questions')}`,
      metadata &&
        `extra information (metadata): ${metadata.length === 0 ? 'none' : `only ${metadata.join(', ')}`}`,
      pageid === false && 'no “pageid” (neither the column nor in the metadata)',
      pseudonyms && 'pseudonyms in place of participant IDs',
    ];
    return `This key sees ${limits.filter(Boolean).join('; ')}.`;
  },
  forget: 'Forget key',
  notForgotten:
    'The key is forgotten, but your browser could not delete all downloaded files. Delete this site’s data in its settings.',
};

/** What to do about a failure, by the code in the response's `X-Error-Code`. */
export const errors = {
  rate_limited: 'Too many requests for this account. Wait a minute, then try again.',
  overloaded: 'The service is busy. Try again in a minute.',
  database_unavailable:
    'The database cannot be reached. Try again in a few minutes. If that does not help, tell whoever runs this service.',
  no_responses:
    'This key gives access to no survey with this name. The link may be misspelled, or made for the key of another account.',
  offline: 'The service cannot be reached. Check your connection, then try again.',
  export_too_large:
    'This is too large for one file. Choose fewer questions, forms or days, or another file format or table layout.',
  /** @param requestId empty if a gateway has failed */
  other(requestId: string): string {
    const tell = requestId === '' ? 'tell' : `send the request ID ${requestId} to`;
    return `Something went wrong on the server. Try again. If it happens again, ${tell} whoever runs this service.`;
  },
};

export const surveys = {
  title: 'Your surveys',
  none: 'No surveys yet. A survey appears here as soon as it has a form.',
  order: 'Newest form first.',
  zone: TIMES,
  sort: {
    label: 'Sort by',
    choices: { newest: 'newest form first', name: 'name' },
  },
  label: 'Search by name or form',
  count: (count: number) => counted(count, 'survey', 'surveys'),
  forms: (forms: number) => `${counted(forms, 'form', 'forms')}:`,
  failed: 'Could not be counted.',
  last: (at: string) => `last answer ${at}`,
};

export const survey = { all: '‹ All surveys', views: 'Views of this survey' };

/** The views of a survey. */
export const views = { results: 'Results', answers: 'Answers', download: 'Download' };

/** The bar that shows what is selected, and the fields to change it. */
export const filter = {
  region: 'Selection',
  title: 'Filter',
  all: 'all answers',
  since: 'From',
  until: 'To',
  reversed: 'This day is before “From”, so it is not applied.',
  /** Periods that end today or before, by name. */
  periods: { 'last-7-days': 'Last 7 days', 'last-week': 'Last week' } as Readonly<
    Record<string, string>
  >,
  lastFile: (day: string) => `Since my last file (${day})`,
  zone: (zone: string) => `Both days are included. Days are in the time zone ${zoneName(zone)}.`,
  lists: {
    shortcode: { label: 'Forms', none: 'all' },
    question_ref: { label: 'Questions', none: 'all' },
  },
  participant: 'Participant ID',
  everyone: 'All participants',
  nobody: 'No selected answer is from this participant.',
  none: 'No answers match.',
  empty: 'No answers yet.',
  clear: 'Clear',
  copyLink: 'Copy link',
  link: 'to this selection',
};

/** The parts of a link that the page does not apply. */
export const link = {
  title: 'Some of this link could not be read:',
  notDay: ' is not a day.',
  once: ' was ignored: only one value is possible.',
  unknown: ' was not recognised.',
  check: 'You may see more than the link was meant for. Check the selection before you download.',
  noSurvey: 'The link names no survey.',
};

/** What is counted at the top of the results. */
export const glance = {
  columns: ['Counted', 'Participants', 'Answers'],
  rows: ['Selected', 'Today', 'Last 7 whole days', 'The 7 days before'],
  times: (first: string, last: string) =>
    `First answer ${moment(first)}, last answer ${moment(last)}. `,
  zone: TIMES,
  anyDays: ' Only the first row and these times are limited to the selected days.',
  empty: 'This survey has no answers yet.',
};

export const days = {
  /** The name of a period, by its unit and its first day. */
  of: {
    day: date,
    week: (day: string) => `week of ${date(day)}`,
    month,
    year: (day: string) => String(Number(day.slice(0, 4))),
  },
  caption: (unit: string, zone: string, most: number) =>
    `Participants per ${unit}, up to ${number(most)}${zone === TIME_ZONE ? '' : ` (in the time zone ${zoneName(zone)})`}`,
  sum: 'Someone who answered on several days is counted once for each day.',
};

const shares = new Intl.NumberFormat(LANGUAGE, { style: 'percent' });

/** A share that is not rounded to 0% or 100%. */
const shareText = (share: number) =>
  share > 0 && share < 0.01 ? '<1%' : shares.format(share < 1 ? Math.min(0.99, share) : 1);

const decimals = new Intl.NumberFormat(LANGUAGE, {
  maximumFractionDigits: 20,
  useGrouping: 'min2', // 1990, but 19,900
});
const means = new Intl.NumberFormat(LANGUAGE, {
  maximumFractionDigits: 2,
  maximumSignificantDigits: 3,
  roundingPriority: 'morePrecision',
});
/** A decimal, whose digits all stay. */
const decimal = (text: string) => decimals.format(text as `${number}`);

export const results = {
  how: 'How this is counted',
  rules: [
    'Of several answers to a question, the last counts. A question that a form skipped counts as not answered.',
    '“Last answer here” counts participants who gave no later answer in the selected forms. Some may still be answering.',
    'A filter by question changes the list, not the numbers in it.',
    'A record is a row of the file with one row per participant. Someone who came from two forms has two.',
    'A letter is shown as the choice that the question’s text lists for it, a number as it was given.',
    'Texts and groups of one record can identify people, so they are shown only when you ask for them.',
  ],
  label: 'Search questions',
  count: (count: number) => counted(count, 'question', 'questions'),
  noQuestion: 'The link names a question that has no selected answers.',
  /** The columns of a form's funnel. */
  funnel: ['Question', 'Answered', 'Last answer here'],
  download: (chosen: number) => `Download ${counted(chosen, 'question', 'questions')}`,
  answeredBy: (count: number, all: number) => `${number(count)} of ${participants(all)} answered`,
  share: shareText,
  of: (count: number, arePeople: boolean) =>
    `of ${arePeople ? participants(count) : counted(count, 'record', 'records')}`,
  none: 'No answers.',
  empty: '(empty)',
  hidden: (distinct: number, records: number) =>
    `Not shown: ${counted(distinct, 'other text', 'other texts')}, in ${counted(records, 'record', 'records')}.`,
  show: 'Show them',
  decimal,
  /** A range of numbers, without the beginning of the next one or, if it is the last one, up to `max`. */
  range: (from: string, to: string | undefined, max: string) =>
    to === undefined
      ? `${decimal(from)} to ${decimal(max)}`
      : `${decimal(from)} to under ${decimal(to)}`,
  mean: (text: string) => means.format(text as `${number}`),
  figures: ['Median', 'Mean', 'Quartiles', 'Range'],
  notNumbers: (count: number, all: number) => `Not numbers: ${number(count)} of ${answers(all)}.`,
  tooManyNumbers: 'Too many different numbers to split.',
  others: (forms: readonly string[]) => `Also asked in: ${forms.join(', ')}.`,
  copyTable: 'Copy table',
  copyLink: 'Copy link',
  what: 'of this chart',
  toQuestion: 'to this question',
};

/** The list of what answers can be split by. */
export const split = {
  label: 'Split by',
  none: 'nothing',
  form: 'form, where several ask the same question',
  arms: 'treatment arm…',
  armLabel: 'Treatment arm',
  arm: 'for example seed_4',
  noArm: 'This is not the name of an arm, such as seed_4 or seed_25_2.',
  metadata: 'Metadata',
  groups: (groups: number, others: number, without: number, hidden: number) => {
    const rest = [
      others > 0 && `${counted(others, 'record is', 'records are')} in smaller groups`,
      without > 0 && `${counted(without, 'record is', 'records are')} in no group`,
      hidden > 0 &&
        `${counted(hidden, 'group of one record is', 'groups of one record are')} not shown`,
    ];
    const within = `Shares are within each of ${counted(groups, 'group', 'groups')}`;
    return `${[within, ...rest].filter(Boolean).join('; ')}.`;
  },
  showAll: 'Show all groups',
};

export const newest = {
  check: 'Check for new answers',
  checked: (at: string) => `Newest first. Checked ${at}.`,
  participant: 'Participant',
  form: 'Form:',
  translated: 'Translated from:',
  choice: (letter: string) => `Choice ${letter}`,
};

/** What long lists and long texts have in common. */
export const lists = {
  more: (shown: number, all: number) => `Show more (${number(shown)} of ${number(all)} shown)`,
  found: (found: number, all: string) => `${number(found)} of ${all}`,
  all: (length: number) => `Show all ${number(length)} characters`,
  part: (part: number, length: number) =>
    `Show the first ${number(part)} of ${number(length)} characters (the download has the full text)`,
  less: 'Show less',
};

export const form = {
  title: 'Download',
  format: 'File format',
  formats: {
    xlsx: { label: 'Excel workbook', note: 'Opens in Excel and LibreOffice.' },
    csv: { label: 'CSV', note: 'For R, Python, Stata and SPSS, without labels.' },
    codebook: {
      label: 'Codebook only',
      note: 'The questions, their choices, and the number of answers to each.',
    },
    'csv-excel': {
      label: 'CSV for Excel',
      note: 'Puts an apostrophe before text that Excel could run as a formula: the data changes.',
    },
    ndjson: { label: 'NDJSON', note: 'For programs. Always one line per answer.' },
  },
  more: 'More formats',
  options: 'More options',
  packages:
    'For SPSS and Stata files with labels, use the Python client or the R package in the folder clients of this service’s repository.',
  table: 'Table layout',
  layouts: {
    long: { label: 'One row per answer', note: 'Complete: every answer, with its time.' },
    wide: {
      label: 'One row per participant',
      note: 'Columns have the short names of questions; their texts are in the codebook. Someone from two forms has two rows.',
    },
  },
  /** The lists to choose several values from, by parameter. */
  lists: {
    metadata: {
      label: 'More columns',
      none: 'none',
      note: 'Extra data of each answer (metadata), such as the platform. What you choose becomes a column. The list shows what the newest and oldest answers have.',
    },
    require_metadata: {
      label: 'Leave out testers, those without',
      none: 'nothing chosen',
      note: 'Choose what all real participants have, such as the “cluster” of the advertisement. Whoever has an answer without it is left out, and listed below the form.',
    },
  },
  /** The boxes, by parameter, with their values. The first is the default. */
  boxes: {
    timing: {
      label: 'With times',
      note: 'Adds columns that show how long answering took.',
      choices: ['false', 'true'],
    },
    numbers: {
      label: 'Numbers as text',
      note: 'Otherwise, a question whose answers are all numbers has cells with numbers. IDs are always text.',
      choices: ['true', 'false'],
    },
    codebook: {
      label: 'With the codebook as a second sheet',
      note: 'It has the question of each column, and its choices.',
      choices: ['false', 'true'],
    },
  },
  arm: {
    label: 'Treatment arms',
    none: 'none',
    note: 'Each participant’s group in an experiment, by its name in the form: seed_4 for four groups.',
  },
  none: 'No answers to download.',
  leftOut: (count: number) =>
    `${participants(count)} ${count === 1 ? 'is' : 'are'} left out of the file:`,
  /** Why participants are left out. @param rule the parameter. @param name its value */
  rule: (rule: string, name: string | null) =>
    rule === 'repeats' ? 'Took a form more than once:' : `Answers without “${name}”:`,
  ids: (shown: number, all: number) =>
    shown < all ? `The first ${number(shown)} participant IDs` : 'Participant IDs',
  idsLabel: 'participant IDs',
  download: 'Download file',
};

/** The descriptions of what is selected. */
export const selection = {
  periods: filter.periods,
  days(first: string, last: string, zone: string): string {
    let text = first ? `from ${date(first)}` : `until ${date(last)}`;
    if (first && last) text = ranges.formatRange(new Date(first), new Date(last));
    return zone === TIME_ZONE ? text : `${text} (${zoneName(zone)})`;
  },
  shortcode: (values: readonly string[]) => counted(values.length, 'form', 'forms'),
  question_ref: (values: readonly string[]) => counted(values.length, 'question', 'questions'),
  userid: (values: readonly string[]) => `participant ${values[0]}`,
  options: {
    arm: { label: 'Treatment arms' },
    codebook: { label: 'Second sheet', choices: { true: 'codebook' } },
  },
  filter: (label: string, values: readonly string[]) => {
    return `${label}: ${values.slice(0, 3).join(', ')}${andMore(values.length - 3)}`;
  },
};

export const preview = {
  show: 'Preview',
  label: 'First rows of the file',
  found(rows: number, isWhole: boolean, columns: number, shown: number): string {
    const found = isWhole ? counted(rows, 'row', 'rows') : `The first ${number(rows)} rows`;
    const rest = shown < columns ? ` Only ${number(shown)} columns are shown here.` : '';
    return `${found} × ${counted(columns, 'column', 'columns')}. Times in the file are in UTC.${rest}`;
  },
};

/** Lists to select one value from, by parameter. The first is the default. */
export const options = {
  value: {
    label: 'Answers',
    choices: {
      response: 'as given, choices as letters',
      label: 'as given, choices as text',
      translated: 'translated, choices as letters',
      translated_label: 'translated, choices as text',
    },
    note: 'Only choices with letters (A, B, C) have a text; numbered ones stay as given.',
  },
  repeats: {
    label: 'If someone took a form more than once',
    choices: {
      last: 'keep the last answer to each question',
      first: 'keep only the answers of the first attempt',
      drop: 'leave the participant out',
    },
  },
  columns: {
    label: 'If several forms ask the same question',
    choices: {
      form_question: 'keep the answers of each form apart',
      question: 'put the answers of all forms together',
    },
  },
};

export const choices = {
  search: (label: string) => `Search: ${label}`,
  count: (count: number) => counted(count, 'choice', 'choices'),
  empty: 'Nothing to choose from.',
};

const unit = (name: 'second' | 'minute' | 'hour', value: number) =>
  new Intl.NumberFormat(LANGUAGE, { style: 'unit', unit: name, unitDisplay: 'long' }).format(
    Math.ceil(value),
  );

export const downloads = {
  region: 'Downloads',
  progress: (name: string) => `Download of ${name}`,
  started: (name: string) => `Downloading ${name}`,
  preparing: 'Preparing the file…',
  of: (rows: number, total: number) => `${number(rows)} of ${answers(total)}`,
  rows: (rows: number) => counted(rows, 'row', 'rows'),
  left(seconds: number): string {
    let time = unit('hour', seconds / 3600);
    if (seconds < 5400) time = unit('minute', seconds / 60);
    if (seconds < 55) time = unit('second', Math.ceil(seconds / 10) * 10);
    return `about ${time} left`;
  },
  waiting: {
    lost: 'The connection was lost. Trying to continue…',
    restarting: 'The connection was lost. This kind of file has to start again…',
    busy: 'The service is busy. Waiting to continue…',
  },
  unfinished: 'Not finished.',
  startsAgain: 'It has to start again.',
  arrived: (amount: string) => `${amount} arrived so far.`,
  missing: (rows: number, total: number) =>
    `Incomplete: only ${number(rows)} of ${answers(total)} arrived. Start the download again.`,
  full: 'Not enough space for this file. Free some, then try again.',
  unstored: 'Your browser could not store the file. Start the download again.',
  complete: (amount: string) => `Complete: ${amount}.`,
  added: (count: number) => `${number(count)} of them arrived during the download.`,
  where: 'Look in your browser’s downloads folder before you remove a complete file.',
  inMemory: 'Keep this page open until the download is complete: the file is in memory.',
  cancel: 'Cancel',
  continue: 'Continue',
  again: 'Start again',
  save: 'Save again',
  remove: 'Remove',
};

export const code = {
  title: 'Code for this file',
  key: 'The programs read your key from the environment variable SURVEY_EXPORT_KEY. The Python program needs the package survey-export, the R program httr2.',
};
