import { pick } from '../../support/random.ts';
import type { Instant, Parameters, Path } from '../expected/select.ts';
import type { Response } from '../model/account.ts';
import { type Moment, timestampOf } from '../model/moment.ts';
import { DAY, METADATA_KEYS, QUESTIONS, type Random, SHORTCODES, USERIDS, below } from '../model/random-data.ts';

const PAGE_SIZES = [undefined, 1, 2, 3, 5, 8, 25, 100, 100, 350, 350, 1000, 10_000];
const TIME_ZONES = [undefined, 'Africa/Nairobi', 'America/New_York', 'Asia/Kathmandu', 'CET'];

/**
 * Random parameters for a path, all of them valid.
 *
 * @param rows responses that filters and cursors can name: those of the survey, perhaps another account's
 * @param layout either if omitted
 */
export function randomParameters(
  random: Random,
  path: Path,
  survey: string,
  rows: readonly Response[],
  layout = pick(random, ['long', 'wide'] as const),
): Parameters {
  const maybe = <T>(value: () => T, probability = 0.5) => (random() < probability ? value() : undefined);
  const flag = () => maybe(() => true);
  if (path === '/surveys' || path === '/key' || path === '/responses/form-data') return { survey };
  const filtered = { survey, ...maybe(() => randomFilters(random, rows)) };
  const wide = () => wideOptions(random);
  switch (path) {
    case '/responses':
      return {
        ...filtered,
        ...randomCursor(random, rows),
        pageSize: pick(random, PAGE_SIZES),
        order: pick(random, [undefined, 'asc', 'desc']),
        count: maybe(() => true, 0.3),
      };
    case '/responses/csv':
      if (layout === 'wide')
        return { ...filtered, ...wide(), bom: flag(), safe: flag(), count: maybe(() => true, 0.05) };
      return {
        ...filtered,
        ...randomCursor(random, rows),
        metadata: someKeys(random),
        bom: flag(),
        safe: flag(),
        count: flag(),
      };
    case '/responses/ndjson':
      return { ...filtered, ...randomCursor(random, rows), count: flag() };
    case '/responses/xlsx':
      return layout === 'wide'
        ? { ...filtered, ...wide(), codebook: flag() }
        : { ...filtered, metadata: someKeys(random), count: flag(), codebook: flag() };
    case '/responses/questions':
      return { ...filtered, format: pick(random, [undefined, 'json', 'csv']), columns: someColumns(random) };
    case '/responses/digests':
      return { ...filtered, interval: pick(random, [undefined, 'day', 'hour', 'month']) };
    case '/responses/summary':
      break;
  }
  return { ...filtered, timezone: pick(random, TIME_ZONES), ...leftOutOptions(random) };
}

/** Options of the wide layout. */
function wideOptions(random: Random): Partial<Parameters> {
  return {
    layout: 'wide',
    value: pick(random, [undefined, 'response', 'translated', 'label']),
    ...leftOutOptions(random),
    columns: someColumns(random),
    metadata: someKeys(random),
  };
}

/** Options of the wide layout and the summary. */
function leftOutOptions(random: Random): Partial<Parameters> {
  return {
    repeats: pick(random, [undefined, 'last', 'first', 'drop']),
    require_metadata: pick(random, [undefined, undefined, ['m'], ['ad_id', 'm']]),
  };
}

const someColumns = (random: Random) => pick(random, [undefined, 'form_question', 'question'] as const);
const someKeys = (random: Random) => pick(random, [undefined, METADATA_KEYS, METADATA_KEYS.slice(0, 1)]);

function randomFilters(random: Random, rows: readonly Response[]): Partial<Parameters> {
  const row = () => pick(random, rows);
  const maybe = <T>(value: () => T) => (random() < 0.35 && rows.length > 0 ? value() : undefined);
  const few = (own: string, ...others: string[]) => [own, pick(random, others)].slice(random() < 0.3 ? 1 : 0);
  return {
    since: maybe(() => instant(random, row().at)),
    until: maybe(() => instant(random, row().at)),
    userid: maybe(() => few(row().userid, ...USERIDS, 'U1', 'u')),
    shortcode: maybe(() => few('f0', ...SHORTCODES, 'F1', 'f')),
    question_ref: maybe(() => few(row().question, ...QUESTIONS, 'Q1', 'q')),
  };
}

/** Resumes after a response in two of three requests. In the older format, a `userid` cannot contain a comma. */
function randomCursor(random: Random, rows: readonly Response[]): Partial<Parameters> {
  const response = random() < 0.66 ? pick(random, rows) : undefined;
  return response ? { after: { response, older: random() < 0.3 && !response.userid.includes(',') } } : {};
}

/** A moment at or near another one, in one of the ways to write it. */
function instant(random: Random, at: Moment): Instant {
  const moment = at + below(random, 2);
  const day = Math.floor(moment / DAY) * DAY;
  const inZone = timestampOf(moment + 7_200_000_000).replace('Z', '+02:00');
  const beforeNext = `${timestampOf(moment).replace(/(?:\.\d+)?Z/, '')}.${String(((moment % 1e6) + 1e6) % 1e6).padStart(6, '0')}1Z`;
  return pick(random, [
    { text: timestampOf(moment), at: moment },
    { text: inZone, at: moment },
    { text: timestampOf(day).slice(0, 10), at: day },
    // Between two microseconds: the next one is the first at this time or later.
    { text: beforeNext, at: moment + 1 },
  ]);
}
