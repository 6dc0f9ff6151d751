import { pick } from '../../support/random.ts';
import { awkwardText } from '../../support/awkward-text.ts';
import { SPECIAL_NAMES } from '../../support/special-names.ts';
import type { Account, FormVersion } from './account.ts';
import {
  type Random,
  SHORTCODES,
  SIZED,
  below,
  marked,
  randomForm,
  randomResponses,
  randomText,
} from './random-data.ts';
import { deleteResponse, updateForms, updateText } from './store.ts';
import { type World, add } from './world.ts';

/** Changes an account's data, in the model and in the database. */
type Write = (random: Random, account: Account, world: World) => Promise<void>;

const isSized = (survey: string) => (SIZED as readonly string[]).includes(survey);

/** One of an account's surveys. */
const someSurvey = (random: Random, { data }: Account) => pick(random, data.forms).survey;

/** The first to change a survey's names are the small ones, since requests find the others by name. */
const someName = (random: Random, { data }: Account) =>
  pick(
    random,
    data.forms.filter(({ survey }) => !isSized(survey)),
  ).survey;

function replace(account: Account, changed: readonly FormVersion[]): Promise<void> {
  const { forms, responses } = account.data;
  const byId = new Map(changed.map((form) => [form.id, form]));
  return account.write({ forms: forms.map((form) => byId.get(form.id) ?? form), responses }, () =>
    updateForms(changed),
  );
}

export const writes: Readonly<Record<string, Write>> = {
  /** At any time: early and late ones. */
  async 'add responses'(random, account) {
    const survey = someSurvey(random, account);
    const forms = account.data.forms.filter((form) => form.survey === survey);
    const responses = randomResponses(random, account, forms, isSized(survey) ? 3 : 1 + below(random, 20));
    await add(account, { forms: [], responses });
  },

  async 'edit a response'(random, account) {
    const { forms, responses } = account.data;
    const old = pick(random, responses);
    const edited = { ...old, text: marked(account, pick(random, ['', '=2', randomText(random)])) };
    const next = { forms, responses: responses.map((response) => (response === old ? edited : response)) };
    await account.write(next, () => updateText(old, edited.text));
  },

  async 'delete a response'(random, account) {
    const { forms, responses } = account.data;
    const old = pick(random, responses);
    await account.write({ forms, responses: responses.filter((response) => response !== old) }, () =>
      deleteResponse(old),
    );
  },

  async 'publish a form version'(random, account, { names }) {
    const form = randomForm(random, account, random() < 0.5 ? someSurvey(random, account) : pick(random, names));
    await add(account, { forms: [form], responses: [] });
  },

  async 'rename a form'(random, account) {
    const form = pick(random, account.data.forms);
    await replace(account, [{ ...form, shortcode: pick(random, SHORTCODES), title: `${form.title}!` }]);
  },

  /** To a name that is special in a header, a URL, a file system, SQL or JSON; or to any; or merges two surveys. */
  async 'rename a survey'(random, account, { names }) {
    const old = someName(random, account);
    const any = `${awkwardText(random)}${below(random, 1000)}`;
    const survey = pick(random, [pick(random, SPECIAL_NAMES), any, pick(random, names)]);
    const forms = account.data.forms.filter((form) => form.survey === old);
    await replace(
      account,
      forms.map((form) => Object.assign({}, form, { survey })),
    );
    if (!names.includes(survey)) names.push(survey);
  },
};
