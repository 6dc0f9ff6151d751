import fc from 'fast-check';
import { tokenOf } from './files.ts';
import { DAY, QUESTIONS, SHORTCODES, SURVEYS, TIMES, USERIDS } from './plans.ts';
import { type Account, type Key, type Moment, type Response, type World, timestampOf, pickOf } from './world.ts';

/** A moment, and one way to write it in a request. */
interface Instant {
  readonly text: string;
  readonly at: Moment;
}

const INSTANTS: readonly Instant[] = [
  ...TIMES.flatMap((at) => [at, at + 1].map((moment) => ({ text: timestampOf(moment), at: moment }))),
  { text: '2026-03-02', at: DAY },
  { text: '2026-03-02T02:00:00+02:00', at: DAY },
  { text: '2026-03-02T00:00:00.0000001Z', at: DAY + 1 },
];

/** Undefined in one of `freq + 1` cases. */
const often = <T>(arbitrary: fc.Arbitrary<T>, freq = 2) => fc.option(arbitrary, { nil: undefined, freq });
const few = (...values: string[]) => fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 2 });
const instant = fc.constantFrom(...INSTANTS);
/** A response must match all filters that are set. */
export interface Filters {
  readonly since: Instant | undefined;
  readonly until: Instant | undefined;
  readonly userid: readonly string[] | undefined;
  readonly shortcode: readonly string[] | undefined;
  readonly question_ref: readonly string[] | undefined;
}

const NO_FILTERS: Filters = {
  since: undefined,
  until: undefined,
  userid: undefined,
  shortcode: undefined,
  question_ref: undefined,
};
/** Half of the requests have no filters. */
const filters: fc.Arbitrary<Filters> = fc.oneof(
  fc.constant(NO_FILTERS),
  fc.record({
    since: often(instant),
    until: often(instant),
    userid: often(few(...USERIDS, 'U1', 'u')),
    shortcode: often(few(...SHORTCODES, 'F1', 'f')),
    question_ref: often(few(...QUESTIONS, 'Q1', 'q')),
  }),
);

/** Some are repeated, so that they are chosen more often. */
const PATHS = [
  '/surveys',
  ...(['/responses', '/responses', '/responses/csv', '/responses/csv', '/responses/csv'] as const),
  '/responses/ndjson',
  '/responses/form-data',
  '/responses/questions',
  '/responses/summary',
] as const;

/** A request to be sent. The numbers are indexes for {@link pickOf}. */
export const requestPlan = fc.record({
  account: fc.nat(1000),
  /** Usually the account's first key. */
  key: fc.oneof({ arbitrary: fc.constant(0), weight: 5 }, { arbitrary: fc.nat(1000), weight: 1 }),
  path: fc.constantFrom(...PATHS),
  survey: fc.oneof(
    { arbitrary: fc.record({ own: fc.nat(1000) }), weight: 6 },
    { arbitrary: fc.constantFrom(...SURVEYS, 'nobody’s', ''), weight: 1 },
  ),
  filters,
  after: often(fc.record({ response: fc.nat(10_000), older: fc.boolean() })),
  pageSize: often(fc.constantFrom(1, 2, 3, 5, 8, 25, 10_000), 4),
  count: fc.nat(2).map((n) => n === 0),
  wide: fc.boolean(),
  bom: fc.boolean(),
  safe: fc.boolean(),
  gzip: fc.boolean(),
  head: fc.nat(9).map((n) => n === 0),
  /** For `If-None-Match`: even for the current tag of the same response, odd for any tag of this case. */
  tag: often(fc.nat(1000)),
});
export type RequestPlan = typeof requestPlan extends fc.Arbitrary<infer T> ? T : never;

/** A request that all accounts send together in every round. Its response has a tag, and is often empty. */
export const pollPlan = fc.record({
  path: fc.constantFrom('/surveys' as const, ...(['/responses', '/responses', '/responses'] as const)),
  /** Index of a response, possibly of another account, whose survey is requested. */
  named: fc.nat(10_000),
  filters: fc.oneof(filters, fc.constant<Filters>({ ...NO_FILTERS, shortcode: ['F1'] })),
  after: often(fc.record({ response: fc.nat(10_000), older: fc.boolean() }), 4),
  pageSize: fc.constantFrom(1, 2, 5, 25),
  gzip: fc.boolean(),
  head: fc.nat(9).map((n) => n === 0),
  tag: fc.nat(1000),
});
export type Poll = Omit<RequestPlan, 'account'>;

export function pollOf(
  world: World,
  { named, ...plan }: typeof pollPlan extends fc.Arbitrary<infer T> ? T : never,
): Poll {
  const responses = world.flatMap((account) => account.responses);
  const survey = pickOf(responses, named)?.form.survey ?? 'nobody’s';
  return { ...plan, survey, key: 0, count: false, wide: false, bom: false, safe: false };
}

/** A request to an endpoint, from an account. */
export interface Request {
  readonly account: Account;
  readonly key: Key;
  readonly path: RequestPlan['path'];
  readonly survey: string;
  readonly filters: Filters;
  readonly after: { readonly response: Response; readonly older: boolean } | undefined;
  readonly pageSize: number | undefined;
  readonly count: boolean;
  readonly wide: boolean;
  readonly bom: boolean;
  readonly safe: boolean;
}

export function requestOf(world: World, plan: Omit<RequestPlan, 'gzip' | 'tag' | 'head'>): Request {
  const account = pickOf(world, plan.account);
  const key = account && pickOf(account.keys, plan.key);
  if (!key) throw new Error('there are no accounts or no keys');
  const survey = typeof plan.survey === 'string' ? plan.survey : ownSurvey(account, plan.survey.own);
  // It may be another account's response.
  const response =
    plan.after &&
    pickOf(
      world.flatMap(({ responses }) => responses),
      plan.after.response,
    );
  return {
    ...plan,
    account,
    key,
    survey,
    // In the older format, a userid cannot contain a comma.
    after: response && { response, older: plan.after?.older === true && !response.userid.includes(',') },
    // A wide file refuses both, and most requests should succeed.
    ...(plan.wide && plan.path === '/responses/csv' && plan.pageSize !== 1 ? { after: undefined, count: false } : {}),
  };
}

/** One of the account's surveys, rarely one without responses. */
function ownSurvey({ forms, responses }: Account, number: number): string {
  const form = number % 8 === 0 ? pickOf(forms, number >> 3) : pickOf(responses, number)?.form;
  return form?.survey ?? 'nobody’s';
}

/** The request for an account's list of surveys. */
export const surveysOf = (account: Account, key: Key): Request => ({
  account,
  key,
  path: '/surveys',
  survey: '',
  filters: NO_FILTERS,
  after: undefined,
  pageSize: undefined,
  count: false,
  wide: false,
  bom: false,
  safe: false,
});

/** Path and query, including parameters that the endpoint ignores. */
export function addressOf({ path, survey, filters: wanted, after, pageSize, count, wide, bom, safe }: Request): string {
  const given: [string, string | undefined][] = [
    ['survey', survey],
    ['since', wanted.since?.text],
    ['until', wanted.until?.text],
    ...(['userid', 'shortcode', 'question_ref'] as const).flatMap((name) =>
      (wanted[name] ?? []).map((value): [string, string] => [name, value]),
    ),
    ['after', after && tokenOf(after.response, after.older)],
    ['pageSize', pageSize?.toString()],
    ['count', count ? 'true' : undefined],
    ['layout', wide ? 'wide' : undefined],
    ['bom', bom ? 'true' : undefined],
    ['safe', safe ? 'true' : undefined],
  ];
  const set = given.filter((parameter): parameter is [string, string] => parameter[1] !== undefined);
  return `${path}?${new URLSearchParams(set).toString()}`;
}
