/*
 * Every text of the page, so that it can be translated: translate this file, and the title and the note in home.html. Names that
 * come from the API (surveys, forms, questions) are not translated.
 */

/** The language of the texts. Numbers and dates are written as in that language. */
export const LANGUAGE = 'en-GB';

const numbers = new Intl.NumberFormat(LANGUAGE);
/** A whole number, with separators: 4,368. */
export const number = (/** @type {number} */ value) => numbers.format(value);

/** The reader's time zone, by its name in the IANA database. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
/** A time zone as people write it: America/New York. @param {string} name in the IANA database */
const zoneName = (name) => name.replaceAll('_', ' ');
const TIMES = `Times are in the time zone ${zoneName(TIME_ZONE)}.`;

const moments = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium', timeStyle: 'short' });
/** A time in the reader's zone: 1 Mar 2026, 09:30. @param {string} iso */
export const moment = (iso) => moments.format(new Date(iso));

const days = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium', timeZone: 'UTC' });
/** A day: 1 Mar 2026. @param {string} day YYYY-MM-DD */
export const date = (day) => days.format(new Date(`${day}T00:00Z`));

/** A month: March 2026. @param {string} day YYYY-MM-DD, in the month */
const month = (day) => months.format(new Date(`${day}T00:00Z`));
const months = new Intl.DateTimeFormat(LANGUAGE, { month: 'long', year: 'numeric', timeZone: 'UTC' });
/** A year: 2026. @param {string} day YYYY-MM-DD, in the year */
const year = (day) => String(Number(day.slice(0, 4)));

/** A number and what it counts: `1 response`, `4,368 responses`. */
const counted = (/** @type {number} */ count, /** @type {string} */ one, /** @type {string} */ many) =>
  `${number(count)} ${count === 1 ? one : many}`;
export const responses = (/** @type {number} */ count) => counted(count, 'response', 'responses');
export const participants = (/** @type {number} */ count) => counted(count, 'participant', 'participants');

export const page = {
  name: 'Survey responses',
  skip: 'Skip to the content',
  reference: 'For programmers: the API',
  loading: 'Loading …',
  retry: 'Try again',
  more: 'Show more',
};

export const key = {
  title: 'Your key',
  lead: 'See your surveys and download their responses.',
  note: 'You got the key from whoever runs this service. It starts with sres_. It is sent only to this service, and forgotten when you close this page.',
  keep: 'Keep in this tab',
  keepNote: 'Reloading the page then does not ask for the key again.',
  open: 'Show my surveys',
  linked: (/** @type {string} */ survey) => `This link opens the survey “${survey}”. Enter your key to see it.`,
  empty: 'Paste your key first.',
  malformed:
    'This is not a complete key. A key starts with sres_ and has 54 characters: copy it again, from the first to the last.',
  wrong:
    'This key is not known here. It may have expired or been revoked, or belong to another server. Ask whoever gave it to you for a new one.',
  revoked: 'Your key no longer works: it has expired or been revoked. Enter another one to continue.',
  owner: (/** @type {string} */ email) => `Key of ${email}`,
  expires: (/** @type {string} */ at) => `expires ${moment(at)}`,
  never: 'does not expire',
  forget: 'Forget key',
};

/** What to do about a failure, by the code in the response's `X-Error-Code`. */
export const errors = {
  rate_limited: 'Too much is being requested with this key at the moment. Wait a minute, then try again.',
  overloaded: 'The service is busy. Try again in a minute.',
  database_unavailable:
    'The database cannot be reached. Try again in a few minutes. If that does not help, tell whoever runs this service.',
  no_responses: 'This survey has no responses yet, or your key has no access to it.',
  offline: 'The service cannot be reached. Check your connection, then try again.',
  other: (/** @type {string} */ requestId) =>
    `Something went wrong at the service. Try again. If it happens again, report this request id to whoever runs the service: ${requestId}`,
};

export const surveys = {
  title: 'Your surveys',
  none: 'There are no surveys yet. A survey appears here as soon as it has a form.',
  order: `The newest come first. ${TIMES}`,
  label: 'Search by name or form',
  count: (/** @type {number} */ count) => counted(count, 'survey', 'surveys'),
  forms: (/** @type {number} */ forms, /** @type {number} */ versions) =>
    `${counted(forms, 'form', 'forms')} in ${counted(versions, 'version', 'versions')}:`,
  moreForms: (/** @type {number} */ count) => ` and ${number(count)} more`,
  counting: 'Counting …',
  failed: 'Could not be counted.',
  last: (/** @type {string} */ at) => `last ${at}`,
};

export const survey = {
  all: 'All surveys',
};

export const overview = {
  title: 'Overview',
  facts: { responses: 'Responses', participants: 'Participants', first: 'First response', last: 'Last response' },
  zone: TIMES,
  none: '–',
  empty: 'This survey has no responses yet, or your key has no access to it.',
  table: 'Numbers per day, as a table',
  columns: ['Day', 'Responses', 'Participants'],
};

export const chart = {
  day: { each: 'per day', of: date },
  week: { each: 'per week', of: (/** @type {string} */ day) => `week of ${date(day)}` },
  month: { each: 'per month', of: month },
  year: { each: 'per year', of: year },
  decade: { each: 'per 10 years', of: (/** @type {string} */ day) => `10 years from ${year(day)}` },
  century: { each: 'per 100 years', of: (/** @type {string} */ day) => `100 years from ${year(day)}` },
  caption: (/** @type {string} */ each, /** @type {string} */ zone) =>
    `Responses ${each}${zone === TIME_ZONE ? '' : ` (in the time zone ${zoneName(zone)})`}`,
  label: (
    /** @type {string} */ each,
    /** @type {string} */ first,
    /** @type {string} */ last,
    /** @type {string} */ busiest,
    /** @type {string} */ most,
  ) => `Responses ${each}, from ${first} to ${last}. Most: ${busiest}, with ${most}.`,
};

export const questions = {
  title: 'Questions',
  label: 'Search the questions',
  count: (/** @type {number} */ count) => counted(count, 'question', 'questions'),
  columns: ['Question', 'Responses', 'Participants'],
  text: 'Text of the question',
};

export const newest = {
  title: 'Newest responses',
  check: 'Check for new responses',
  order: `The newest come first. ${TIMES}`,
  checked: (/** @type {string} */ at) => `Checked ${at}.`,
  participant: 'Participant',
  form: 'Form',
  question: 'Question',
  answer: 'Answer',
  original: 'Original answer',
  translated: 'Translated from:',
  empty: '(empty)',
};

/** What long lists and long texts have in common. */
export const lists = {
  more: (/** @type {number} */ shown, /** @type {number} */ all) =>
    `Show more (${number(shown)} of ${number(all)} shown)`,
  found: (/** @type {number} */ found, /** @type {string} */ all) => `${number(found)} of ${all}`,
  all: (/** @type {number} */ length) => `Show all ${number(length)} characters`,
  part: (/** @type {number} */ part, /** @type {number} */ length) =>
    `Show ${number(part)} of ${number(length)} characters (the download has all)`,
  less: 'Show less',
};

export const form = {};

export const downloads = {};

export const code = {};
