import fc from 'fast-check';
import type pg from 'pg';
import type { RunningWorker } from '../../support/worker.ts';
import { exchangeKey } from './keys.ts';
import { SHORTCODES, SURVEYS, formOf, marked, responsesOf, someForms, someResponses } from './plans.ts';
import { storeForms, storeResponses } from './store.ts';
import { type Account, type Form, type Response, type World, isoOf, pickOf } from './world.ts';

const kind = <K extends string>(name: K) => fc.constant(name);

/** What may happen between requests; numbers choose among what there is. */
export const changePlan = fc.oneof(
  fc.record({ kind: kind('responses'), account: fc.nat(1000), form: fc.nat(1000), responses: someResponses }),
  fc.record({
    kind: kind('forms'),
    account: fc.nat(1000),
    survey: fc.constantFrom(...SURVEYS),
    forms: someForms,
  }),
  fc.record({
    kind: kind('name'),
    account: fc.nat(1000),
    form: fc.nat(1000),
    shortcode: fc.constantFrom(...SHORTCODES),
  }),
  fc.record({ kind: kind('text'), response: fc.nat(10_000), text: fc.constantFrom('', 'changed', '=2') }),
  fc.record({ kind: kind('deletion'), response: fc.nat(10_000) }),
  fc.record({
    kind: kind('key'),
    account: fc.nat(1000),
    key: fc.nat(1),
    how: fc.constantFrom<'revoked' | 'expires'>('revoked', 'expires'),
  }),
);
export type ChangePlan = typeof changePlan extends fc.Arbitrary<infer T> ? T : never;
type ResponseChange = Extract<ChangePlan, { kind: 'text' | 'deletion' }>;

/** Changes the database and the model alike. @returns the account of which keys were changed */
export async function change(
  world: World,
  db: pg.Client,
  cache: RunningWorker['keys'],
  plan: ChangePlan,
): Promise<Account | undefined> {
  if (plan.kind === 'text' || plan.kind === 'deletion') {
    await changeResponse(world, db, plan);
    return undefined;
  }
  const account = pickOf(world, plan.account);
  if (!account) throw new Error('every world has accounts');
  if (plan.kind === 'key') {
    await exchangeKey(account, db, cache, plan);
    return account;
  }
  const form = plan.kind === 'forms' ? undefined : pickOf(account.forms, plan.form);
  if (plan.kind === 'name') {
    await renameForm(db, form, plan.shortcode);
  } else if (plan.kind === 'forms') {
    const forms = plan.forms.map((planned) => formOf(account, plan.survey, planned));
    await storeForms(db, account, forms);
    account.forms.push(...forms);
  } else {
    const more = responsesOf(account, form?.survey ?? '', plan.responses);
    await storeResponses(db, more);
    account.responses.push(...more);
  }
  return undefined;
}

/** Which is in all of its responses. */
async function renameForm(db: pg.Client, form: Form | undefined, shortcode: string): Promise<void> {
  if (!form) return;
  form.shortcode = shortcode;
  form.title += '!';
  await db.query('update surveys set shortcode = $2, title = $3 where id = $1', [form.id, form.shortcode, form.title]);
}

async function changeResponse(world: World, db: pg.Client, plan: ResponseChange): Promise<void> {
  const owned = world.flatMap((account) => account.responses.map((response) => ({ account, response })));
  const { account, response } = pickOf(owned, plan.response) ?? {};
  if (!account || !response) return;
  const at = account.responses.indexOf(response);
  if (plan.kind === 'deletion') {
    await db.query(`delete from responses where ${PLACE}`, placeOf(response));
    account.responses.splice(at, 1);
    return;
  }
  const text = marked(account, plan.text);
  await db.query(`update responses set response = $5 where ${PLACE}`, [...placeOf(response), text]);
  account.responses[at] = { ...response, text };
}

const PLACE = 'surveyid = $1 and timestamp = $2 and userid = $3 and question_ref = $4';
const placeOf = ({ form, at, userid, question }: Response) => [form.id, isoOf(at), userid, question];
