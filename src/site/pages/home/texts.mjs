/*
 * Every text of the page, so that it can be translated: translate this file, and the title and the note in home.html. Names that
 * come from the API (surveys, forms, questions) are not translated.
 */

/** The language of the texts. Numbers and dates are written as in that language. */
export const LANGUAGE = 'en-GB';

const numbers = new Intl.NumberFormat(LANGUAGE);
/** A whole number, with separators: 4,368. */
export const number = (/** @type {number} */ value) => numbers.format(value);

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
/** The reader's time zone, by its name in the IANA database. */
export const TIME_ZONE = zone;

const moments = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium', timeStyle: 'short' });
/** A time in the reader's zone: 1 Mar 2026, 09:30. @param {string} iso */
export const moment = (iso) => moments.format(new Date(iso));

const days = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium', timeZone: 'UTC' });
/** A day: 1 Mar 2026. @param {string} day YYYY-MM-DD */
export const date = (day) => days.format(new Date(`${day}T00:00Z`));

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

export const surveys = {};

export const survey = {
  all: 'All surveys',
};

export const form = {};

const unit = (/** @type {'second' | 'minute' | 'hour'} */ name, /** @type {number} */ value) =>
  new Intl.NumberFormat(LANGUAGE, { style: 'unit', unit: name, unitDisplay: 'long' }).format(Math.ceil(value));

export const downloads = {
  region: 'Downloads',
  progress: (/** @type {string} */ name) => `Download of ${name}`,
  started: (/** @type {string} */ name) => `Downloading ${name}`,
  quarter: (/** @type {number} */ percent, /** @type {string} */ name) => `${percent} % of ${name} downloaded`,
  of: (/** @type {number} */ rows, /** @type {number} */ total) => `${number(rows)} of ${responses(total)}`,
  rows: (/** @type {number} */ rows) => counted(rows, 'row', 'rows'),
  speed: (/** @type {string} */ size) => `${size} per second`,
  left: (/** @type {number} */ seconds) =>
    `about ${seconds < 55 ? unit('second', Math.ceil(seconds / 10) * 10) : seconds < 5400 ? unit('minute', seconds / 60) : unit('hour', seconds / 3600)} left`,
  waiting: {
    lost: 'The connection was lost. Trying to continue …',
    restarting:
      'The connection was lost. A file of this kind cannot be continued, so it starts again from the beginning …',
    busy: 'The service is busy. Waiting to continue …',
  },
  unfinished: 'Not finished.',
  startsAgain: 'It has to start again from the beginning.',
  arrived: (/** @type {string} */ amount) => `${amount} arrived so far.`,
  missing: (/** @type {number} */ rows, /** @type {number} */ total) =>
    `Not complete: only ${number(rows)} of ${responses(total)} arrived. Start the download again.`,
  full: 'There is not enough space for this file. Free some on your device, then try again.',
  unstored: 'Your browser could not store the file. Start the download again.',
  complete: (/** @type {string} */ amount) => `Complete: ${amount}.`,
  added: (/** @type {number} */ count) => `${number(count)} of them arrived during the download.`,
  where: 'Find it in your browser’s downloads.',
  inMemory:
    'Keep this page open until the download is complete: this window cannot continue it later, and holds it in memory.',
  cancel: 'Cancel',
  continue: 'Continue',
  again: 'Start again',
  save: 'Save again',
  remove: 'Remove',
};

export const code = {};
