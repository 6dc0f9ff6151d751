import fc from 'fast-check';
import { pgText } from '../../support/arbitraries.ts';
import {
  type Account,
  type FormVersion,
  type Metadata,
  type Moment,
  type Response,
  pickOf,
  primaryKeyOf,
} from './world.ts';

/*
 * Random accounts and their data. Whatever a request can name has few values, so that accounts share them. The first difference
 * between values that are sorted is a digit or their length, so that every collation sorts them in the same order.
 */

/** Some are a prefix of another, or differ only in case. */
export const SURVEYS = ['Health', 'health', 'Health & Habits', 'Heal', 'Health\r\n"2026", 100% a+b\\c'];
export const SHORTCODES = ['f0', 'f1', 'f10', 'f2.x'];
export const USERIDS = ['u0', 'u1', 'u10', 'u2, "A"\r\n', 'u3\\é'];
export const QUESTIONS = ['q0', 'q1', 'q10', 'q2,"B"\n', 'q3\\n'];
export const DAY: Moment = 86_400_000_000;
export const TIMES: readonly Moment[] = [0, 1, 1000, 43_770_047, DAY - 1, DAY, DAY + 1, 2 * DAY];

/** Includes formulas, and texts that look like null. */
const text = fc.oneof(pgText, fc.constantFrom('', '=1+1', '-5', '\tx', '＠a', 'NULL', '\\N', 'a\r\nb', '"'));
const time = fc.constantFrom(...TIMES);

const formPlan = fc.record({
  id: fc.noBias(fc.uuid()),
  shortcode: fc.constantFrom(...SHORTCODES),
  title: text,
  created: time,
  settings: fc.option(
    fc.record({
      closes: fc.option(time),
      timeouts: fc.option(fc.constantFrom('[1, 2]', '{"a": "\\n"}', '"x"', '12345678901234567890.10')),
    }),
    { nil: undefined },
  ),
});
export type FormPlan = typeof formPlan extends fc.Arbitrary<infer T> ? T : never;

/** Few values, so that responses to several forms and of several accounts tie. */
const positionIn = (times: readonly Moment[], userids: readonly string[], questions: readonly string[]) =>
  fc.record({
    at: fc.constantFrom(...times),
    userid: fc.constantFrom(...userids),
    question: fc.constantFrom(...questions),
  });

const responsePlan = fc.record({
  form: fc.nat(100),
  parent: fc.option(fc.nat(100)),
  parentShortcode: fc.constantFrom(...SHORTCODES),
  flowid: fc.constantFrom('1600000000001', '-5', '9223372036854775807'),
  position: fc.oneof(
    positionIn(TIMES, USERIDS, QUESTIONS),
    positionIn(TIMES.slice(4, 6), USERIDS.slice(1, 3), QUESTIONS.slice(1, 3)),
  ),
  index: fc.nat(3),
  questionText: text,
  text,
  metadata: fc.nat(4),
  pageid: fc.boolean(),
  translated: fc.option(text),
});
export type ResponsePlan = typeof responsePlan extends fc.Arbitrary<infer T> ? T : never;

export const someForms = fc.array(formPlan, { minLength: 1, maxLength: 4, size: 'max' });
export const someResponses = fc.oneof(
  { arbitrary: fc.array(responsePlan, { maxLength: 30, size: 'max' }), weight: 6 },
  { arbitrary: fc.constant([]), weight: 1 },
);

const surveyPlan = fc.record({ name: fc.constantFrom(...SURVEYS), forms: someForms, responses: someResponses });

const accountPlan = fc.record({
  id: fc.noBias(fc.uuid()),
  marker: fc.noBias(fc.uuid()).map((uuid) => `mk${uuid.replaceAll('-', '')}km`),
  surveys: fc.oneof(
    { arbitrary: fc.uniqueArray(surveyPlan, { minLength: 1, maxLength: 3, selector: ({ name }) => name }), weight: 4 },
    { arbitrary: fc.constant([]), weight: 1 },
  ),
});

export const worldPlan = fc.array(accountPlan, { minLength: 2, maxLength: 4, size: 'max' });
export type AccountPlan = typeof accountPlan extends fc.Arbitrary<infer T> ? T : never;

export function accountOf({ id, marker, surveys }: AccountPlan): Account {
  const account: Account = { id, email: `${marker}@example.org`, marker, forms: [], responses: [], keys: [] };
  for (const { name, forms, responses } of surveys) {
    for (const form of forms) account.forms.push(formOf(account, name, form));
    account.responses.push(...responsesOf(account, name, responses));
  }
  return account;
}

export function formOf({ marker }: Account, survey: string, { title, settings, ...plan }: FormPlan): FormVersion {
  return { ...plan, survey, title: title + marker, metadata: `{"m": "${marker}", "wave": 1.50}`, settings };
}

/** Responses to an account's survey, without those whose primary key is taken. */
export function responsesOf(account: Account, survey: string, plans: readonly ResponsePlan[]): Response[] {
  const { marker, forms, responses } = account;
  const own = forms.filter((form) => form.survey === survey);
  const taken = new Set(responses.map(primaryKeyOf));
  return plans.flatMap(({ position, ...plan }) => {
    const form = pickOf(own, plan.form);
    if (!form) return [];
    const response: Response = {
      ...plan,
      ...position,
      form,
      parentId: plan.parent === null ? null : (pickOf(forms, plan.parent)?.id ?? null),
      questionText: plan.questionText + marker,
      text: marked(account, plan.text),
      metadata: metadataOf(marker, plan.metadata),
      pageid: plan.pageid ? marker : null,
    };
    const key = primaryKeyOf(response);
    if (taken.has(key)) return [];
    taken.add(key);
    return [response];
  });
}

/** Appends the account's marker. An empty text stays empty. */
export const marked = ({ marker }: Account, response: string) => (response === '' ? '' : response + marker);

function metadataOf(marker: string, number: number): Metadata {
  const metadata: Metadata[] = [
    { json: null, adId: null },
    { json: '{}', adId: null },
    { json: `{"m": "${marker}", "ad_id": null}`, adId: null },
    { json: `{"m": "${marker}", "ad_id": "2, \\"3\\"\\n"}`, adId: '2, "3"\n' },
    { json: `{"m": "${marker}", "ad_id": 12345678901234567890.10}`, adId: '12345678901234567890.10' },
  ];
  return metadata[number] ?? { json: null, adId: null };
}
