import { SPECIAL_NAMES, awkwardText } from '../../support/awkward-text.ts';
import { sql } from '../../support/data.ts';
import { type Random, below, pick } from '../../support/random.ts';
import type { Account, FormVersion, Response } from './account.ts';
import { SHORTCODES, isSized, randomAnswer, randomForm, randomResponses } from './random-data.ts';
import { type World, add } from './world.ts';

/** Changes an account's data, in the model and in the database. */
type Write = (random: Random, account: Account, world: World) => Promise<void>;

/** One of an account's surveys. */
const someSurvey = (random: Random, forms: readonly FormVersion[]) => pick(random, forms).survey;

const IS_RESPONSE = 'surveyid = $1 and timestamp = $2 and userid = $3 and question_ref = $4';
const keyOf = ({ surveyid, timestamp, userid, question_ref }: Response) => [
  surveyid,
  timestamp,
  userid,
  question_ref,
];

/** Changes form versions. */
async function update(account: Account, changed: readonly FormVersion[]): Promise<void> {
  const byId = new Map(changed.map((form) => [form.id, form]));
  await account.write({ forms: account.data.forms.map((form) => byId.get(form.id) ?? form) }, () =>
    sql(
      `update surveys set survey_name = survey, shortcode = f.shortcode, title = f.title
       from json_to_recordset($1) as f(id uuid, survey text, shortcode text, title text) where f.id = surveys.id`,
      [JSON.stringify(changed)],
    ),
  );
}

export const writes: Readonly<Record<string, Write>> = {
  /** At any time: early and late ones. */
  async 'add responses'(random, account) {
    const survey = someSurvey(random, account.data.forms);
    const forms = account.data.forms.filter((form) => form.survey === survey);
    const count = isSized(survey) ? 3 : 1 + below(random, 20);
    await add(account, { responses: randomResponses(random, account, forms, count) });
  },

  async 'edit a response'(random, account) {
    const { responses } = account.data;
    const old = pick(random, responses);
    const edited = { ...old, response: randomAnswer(random, account, old.question_ref) };
    await account.write({ responses: responses.map((row) => (row === old ? edited : row)) }, () =>
      sql(`update responses set response = $5 where ${IS_RESPONSE}`, [
        ...keyOf(old),
        edited.response,
      ]),
    );
  },

  async 'delete a response'(random, account) {
    const { responses } = account.data;
    const old = pick(random, responses);
    await account.write({ responses: responses.filter((row) => row !== old) }, () =>
      sql(`delete from responses where ${IS_RESPONSE}`, keyOf(old)),
    );
  },

  async 'publish a form version'(random, account, { names }) {
    const survey = random() < 0.5 ? someSurvey(random, account.data.forms) : pick(random, names);
    await add(account, { forms: [randomForm(random, account, survey)] });
  },

  async 'rename a form'(random, account) {
    const form = pick(random, account.data.forms);
    await update(account, [
      { ...form, shortcode: pick(random, SHORTCODES), title: `${form.title}!` },
    ]);
  },

  /**
   * To a name that is special in a header, a URL, a file system, SQL or JSON; or to any; or merges
   * two surveys.
   */
  async 'rename a survey'(random, account, { names }) {
    const { forms } = account.data;
    // Requests find the large ones by name.
    const old = someSurvey(
      random,
      forms.filter(({ survey }) => !isSized(survey)),
    );
    const any = `${awkwardText(random)}${below(random, 1000)}`;
    const survey = pick(random, [pick(random, SPECIAL_NAMES), any, pick(random, names)]);
    const renamed = forms
      .filter((form) => form.survey === old)
      .map((form) => Object.assign({}, form, { survey }));
    await update(account, renamed);
    if (!names.includes(survey)) names.push(survey);
  },
};
