import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '../chaos/model/account.ts';
import { pseudonymOf, randomLimits } from '../chaos/model/limits.ts';
import { primaryKeyOf } from '../chaos/model/order.ts';
import {
  SURVEYS,
  randomForm,
  randomResponses,
  randomUuid,
  sizedSurvey,
} from '../chaos/model/random-data.ts';
import { add } from '../chaos/model/world.ts';
import { hostileRequest } from '../chaos/requests/hostile-request.ts';
import { randomParameters } from '../chaos/requests/parameters.ts';
import { PATHS, type Path, addressOf } from '../chaos/requests/request.ts';
import { query } from '../support/api.ts';
import { pick, randomFrom } from '../support/random.ts';
import { useStack } from '../support/stack-address.ts';
import { ATTACKING, HARMLESS, createAttacks } from './attacks.ts';
import { type Question, type Seen, ask, startMaskedCopy } from './masked-copy.ts';

/*
 * A limited key sees another database: every response is, byte for byte, that of an unlimited key
 * in a copy in which what is hidden has never existed. For 300 limits, another seed and its locale:
 * TEST_LIMITS=300 TEST_SEED=7 npx vitest run --project service test/auth/masked-copy.test.ts
 */

const LIMITS = Number(process.env['TEST_LIMITS'] ?? 12);
const SEED = Number(process.env['TEST_SEED'] ?? 1);
const LOCALE = ['und', 'da', 'C'][SEED % 3] ?? '';
/** For each of the limits, and how many pages of each. */
const REQUESTS = 16;
const PAGES = 5;
/** Fewer than the scans of an account that may run or wait. */
const AT_A_TIME = 4;
/** So that most files take several results of the database. */
const MAX_RESPONSE_BYTES = 40_000;

/** In several scripts; some look like pseudonyms. */
const MORE_USERIDS = ['Åse', 'aa', 'Ω', '中文', 'مريم', '😀', 'P1', `p${'0'.repeat(32)}`];
const MORE_METADATA = [
  'null',
  '[1, 2.50]',
  '"m"',
  '1.50',
  'true',
  '{"": 1, "m": {"pageid": [1.10e2]}, "none": null}',
  '{"pageid": "1", "phone": "+254", "m": null, "seed": 7, "ad_id": "é\\"\\n"}',
];
const MORE_KEYS = ['', 'pageid', 'phone', 'seed', 'seed_2'];

const random = randomFrom(SEED);
const account = new Account(randomUuid(random));
let world: Awaited<ReturnType<typeof startMaskedCopy>>;
let attacks: Awaited<ReturnType<typeof createAttacks>>;

beforeAll(async () => {
  world = await startMaskedCopy(account, { locale: LOCALE, maxResponseBytes: MAX_RESPONSE_BYTES });
  useStack(world.real.address);
  await fill();
  attacks = await createAttacks({ id: account.id, email: account.email, key: world.unlimited });
});
afterAll(() => world[Symbol.asyncDispose]());

/**
 * Stores random data of the account, with many equal timestamps, questions that several forms have,
 * and parent forms of any survey.
 */
async function fill(): Promise<void> {
  const surveys = SURVEYS.map((survey) => {
    // The responses to more than 50 form versions are read by other statements.
    const count = pick(random, [1, 2, 3, 4, 60]);
    const forms = Array.from({ length: count }, () => randomForm(random, account, survey));
    return {
      forms,
      responses: randomResponses(random, account, forms, pick(random, [0, 20, 60, 200])),
    };
  }).concat(sizedSurvey(random, account, 'few rows'));
  const parents = surveys.flatMap(({ forms }) => forms.map(({ id }) => id));
  for (const { forms, responses } of surveys) {
    const unique = new Map(
      responses.map((row) => {
        const userid = pick(random, [row.userid, row.userid, ...MORE_USERIDS]);
        const metadata = pick(random, [row.metadata, row.metadata, ...MORE_METADATA]);
        const parent = pick(random, [null, row.surveyid, pick(random, parents)]);
        const changed = Object.assign({}, row, { userid, metadata, parent_surveyid: parent });
        return [primaryKeyOf(changed), changed];
      }),
    );
    await add(account, { forms, responses: [...unique.values()] });
  }
}

const kinds = PATHS.filter((path) => path !== '/key').flatMap((path): [Path, 'long' | 'wide'][] =>
  (['long', 'wide', 'wide'] as const)
    .slice(0, /csv|xlsx/.test(path) ? 3 : 1)
    .map((layout) => [path, layout]),
);

type Views = Parameters<typeof randomParameters>[3];

/** @param views the rows that filters and cursors name @param tags those of earlier responses */
function randomQuestion(views: Views, tags: readonly string[]): Question {
  const headers = {
    'Accept-Encoding': pick(random, ['GZIP', 'identity']),
    ...(random() < 0.2 ? { 'If-None-Match': pick(random, tags) } : {}),
    ...(random() < 0.1 ? { Prefer: 'handling=strict' } : {}),
  };
  return [randomAddress(views), { method: random() < 0.1 ? 'HEAD' : 'GET', headers }];
}

function randomAddress(views: Views): string {
  const survey = pick(random, [...SURVEYS, 'few rows', 'few rows', 'few rows', 'nobody’s']);
  const hostile = hostileRequest(random).target.replace(
    'survey=fuzzed',
    query({ survey }).slice(1),
  );
  const [, address] = /^\/api\/v1(\/(?!key)[!-~]{1,8000})$/.exec(hostile) ?? [];
  if (address !== undefined && random() < 0.15) return address;

  const [path, layout] = pick(random, kinds);
  const { metadata, by, ...others } = randomParameters(random, path, survey, views, layout);
  const hidden = {
    metadata: metadata && [...metadata, ...MORE_KEYS.filter(() => random() < 0.5)],
    by: by && pick(random, [by, `metadata.${pick(random, MORE_KEYS)}`]),
  };
  return addressOf({ path, parameters: { ...others, ...hidden } });
}

test.for(Array.from({ length: LIMITS }, (_, i) => i))(
  `a limited key sees another database: seed ${SEED}, limits %i`,
  async (_, { signal }) => {
    const { real, copy, unlimited } = world;
    const limits = randomLimits(random);
    const key = await world.mask(limits);
    const { data } = account;
    const shown = ({ userid }: { userid: string }) =>
      limits.secret === undefined ? userid : pseudonymOf(userid, limits.secret);
    const responses = data.responses.map((row) => ({ ...row, userid: shown(row) }));
    const views = [account, { data: { ...data, responses } }];
    const tags = ['*'];

    const compare = async (question: Question): Promise<Seen> => {
      signal.throwIfAborted(); // nothing continues beside the next test
      const expected = await ask(copy, unlimited, question);
      const found = await ask(real, key, question);
      expect.soft({ limits, question, found }).toEqual({ limits, question, found: expected });
      return expected;
    };
    const comparePages = async ([path, asking]: Question, pages = PAGES): Promise<void> => {
      const { etag, link } = (await compare([path, asking])).headers;
      if (etag !== undefined && pages === PAGES) {
        await compare([path, { headers: { 'If-None-Match': etag } }]);
        const all = await ask(real, unlimited, [path, {}]);
        tags.push(etag, all.headers['etag'] ?? etag);
      }
      const next = /^<\/api\/v1(.*)>/.exec(link ?? '')?.[1];
      if (next !== undefined && pages > 1) await comparePages([next, asking], pages - 1);
    };

    for (let i = 0; i < REQUESTS; i += AT_A_TIME) {
      const questions = Array.from({ length: AT_A_TIME }, () => randomQuestion(views, tags));
      await Promise.all(questions.map((question) => comparePages(question)));
    }
  },
);

test('attacks with a limited key get what an unlimited key gets on the masked copy', async () => {
  const { real, copy, unlimited } = world;
  const key = await world.mask(ATTACKING);
  const harmless: string[] = [];
  for (const [name, paths] of Object.entries(attacks)) {
    let isHarmless = true;
    for (const path of paths) {
      const question: Question = [path, { headers: { Prefer: 'handling=strict' } }];
      const expected = await ask(copy, unlimited, question);
      expect.soft([name, path, await ask(real, key, question)]).toEqual([name, path, expected]);
      isHarmless &&=
        JSON.stringify(await ask(real, unlimited, question)) === JSON.stringify(expected);
    }
    if (isHarmless) harmless.push(name);
  }
  expect(harmless).toEqual(HARMLESS);
});
