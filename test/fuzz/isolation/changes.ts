import fc from 'fast-check';
import type pg from 'pg';
import type { RunningWorker } from '../../support/worker.ts';
import { replaceKey } from './keys.ts';
import { SHORTCODES, SURVEYS, formOf, marked, responsesOf, someForms, someResponses } from './plans.ts';
import { storeForms, storeResponses } from './store.ts';
import { type Account, type FormVersion, type Response, type World, timestampOf, pickOf } from './world.ts';

const kind = <K extends string>(name: K) => fc.constant(name);

/** A change between two rounds of requests. The numbers are indexes for {@link pickOf}. */
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

/** Makes a change in the database and in the model. @returns the account whose keys changed, if any did */
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
  if (!account) throw new Error('there are no accounts');
  if (plan.kind === 'key') {
    await replaceKey(account, db, cache, plan);
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

/** Changes the shortcode, which is part of every response to the form version. */
async function renameForm(db: pg.Client, form: FormVersion | undefined, shortcode: string): Promise<void> {
  if (!form) return;
  form.shortcode = shortcode;
  form.title += '!';
  await db.query('update surveys set shortcode = $2, title = $3 where id = $1', [form.id, form.shortcode, form.title]);
}

async function changeResponse(world: World, db: pg.Client, plan: ResponseChange): Promise<void> {
  const owned = world.flatMap((account) => account.responses.map((response) => ({ account, response })));
  const { account, response } = pickOf(owned, plan.response) ?? {};
  if (!account || !response) return;
  const index = account.responses.indexOf(response);
  if (plan.kind === 'deletion') {
    await db.query(`delete from responses where ${IS_RESPONSE}`, parametersOf(response));
    account.responses.splice(index, 1);
    return;
  }
  const text = marked(account, plan.text);
  await db.query(`update responses set response = $5 where ${IS_RESPONSE}`, [...parametersOf(response), text]);
  account.responses[index] = { ...response, text };
}

const IS_RESPONSE = 'surveyid = $1 and timestamp = $2 and userid = $3 and question_ref = $4';
const parametersOf = ({ form, at, userid, question }: Response) => [form.id, timestampOf(at), userid, question];
