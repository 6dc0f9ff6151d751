import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../chaos/model/account.ts';
import { randomLimits } from '../chaos/model/limits.ts';
import { primaryKeyOf } from '../chaos/model/order.ts';
import {
  METADATA_KEYS,
  QUESTIONS,
  SHORTCODES,
  SURVEYS,
  randomForm,
  randomResponses,
  randomUuid,
  sizedSurvey,
} from '../chaos/model/random-data.ts';
import { add } from '../chaos/model/world.ts';
import { hostileRequest } from '../chaos/requests/hostile-request.ts';
import { COUNTED, randomParameters } from '../chaos/requests/parameters.ts';
import { PATHS, type Path, addressOf } from '../chaos/requests/request.ts';
import { query } from '../support/api.ts';
import { hasPython } from '../support/needed-programs.ts';
import { type Random, pick, randomFrom } from '../support/random.ts';
import { useStack } from '../support/stack-address.ts';
import type { Stack } from '../support/stack.ts';
import { type Question, type Seen, accountIn, ask, startMaskedCopy } from './masked-copy.ts';

/*
 * A limited key sees another database: every response is, byte for byte, that of an unlimited key
 * in a copy in which what is hidden has never existed. mask.py makes the copy. Then what is hidden
 * changes, and every response stays as it is. For 300 limits and other seeds: TEST_LIMITS=300
 * TEST_SEED=7 npx vitest run --project service test/auth/masked-copy.test.ts
 */

const LIMITS = Number(process.env['TEST_LIMITS'] ?? 24);
const SEED = Number(process.env['TEST_SEED'] ?? 1);
/** For each of the limits, without further pages. */
const REQUESTS = 15;
const LIMITS_PER_DATABASE = 12;
/** Fewer than the scans of an account that may run or wait. */
const AT_A_TIME = 4;
/** So that most files take several results of the database. */
const SMALL = { maxResponseBytes: 40_000 };
const LOCALES = ['C', 'da', 'und'];

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

/**
 * Stores random data of an account, with many equal timestamps, questions that several forms have,
 * and parent forms of any survey.
 */
async function fill(random: Random, account: Account, { address }: Stack): Promise<void> {
  useStack(address);
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

/** @param accounts whose rows filters and cursors name @param tags those of earlier responses */
function randomQuestion(
  random: Random,
  accounts: readonly Account[],
  tags: readonly string[],
): Question {
  const headers = {
    'Accept-Encoding': pick(random, ['GZIP', 'identity']),
    ...(random() < 0.2 ? { 'If-None-Match': pick(random, tags) } : {}),
    ...(random() < 0.1 ? { Prefer: 'handling=strict' } : {}),
  };
  return [randomAddress(random, accounts), { method: random() < 0.1 ? 'HEAD' : 'GET', headers }];
}

function randomAddress(random: Random, accounts: readonly Account[]): string {
  const account = pick(random, accounts);
  const survey = pick(random, [...SURVEYS, 'few rows', 'few rows', 'few rows', 'nobody’s']);
  const hostile = hostileRequest(random).target.replace(
    'survey=fuzzed',
    query({ survey }).slice(1),
  );
  const [, address] = /^\/api\/v1(\/(?!key)[!-~]{1,8000})$/.exec(hostile) ?? [];
  if (address !== undefined && random() < 0.15) return address;
  const [path, layout] = pick(random, kinds);
  const { metadata, ...parameters } = randomParameters(random, path, survey, accounts, layout);
  const more = {
    metadata: metadata && [...metadata, ...MORE_KEYS.filter(() => random() < 0.5)],
    ...Object.fromEntries(
      (COUNTED[path] ?? [])
        .filter(() => random() < 0.7)
        .map((name) => [name, name === 'by' ? randomGrouping(random) : true]),
    ),
  };
  return addressOf({ account, path, parameters: { ...parameters, ...more } });
}

/** A column of a wide file, which the key may not see. */
const randomGrouping = (random: Random) =>
  pick(random, [
    `metadata.${pick(random, [...METADATA_KEYS, ...MORE_KEYS])}`,
    `arm.${pick(random, ['seed_2', 'seed_7_10'])}`,
    `${pick(random, SHORTCODES)}.${pick(random, QUESTIONS)}`,
    pick(random, QUESTIONS),
  ]);

const DATABASES = Array.from(
  { length: Math.ceil(LIMITS / LIMITS_PER_DATABASE) },
  (_, i) => [LOCALES[i % LOCALES.length] as string, SEED + i] as const,
);

describe.skipIf(!hasPython).each(DATABASES)(
  'in the order of %s, seed %i',
  (locale, databaseSeed) => {
    const random = randomFrom(databaseSeed);
    const account = new Account(randomUuid(random));
    const tags = ['*'];
    let world: Awaited<ReturnType<typeof startMaskedCopy>>;

    beforeAll(async () => {
      const options = databaseSeed % 2 === 0 ? SMALL : {};
      world = await startMaskedCopy(account, { locale, ...options });
      await fill(random, account, world.real);
      await world.save();
    });
    afterAll(() => world[Symbol.asyncDispose]());

    const seeds = Array.from(
      { length: LIMITS_PER_DATABASE },
      (_, i) => databaseSeed * LIMITS_PER_DATABASE + i,
    );

    test.for(seeds)('a limited key sees another database, limits %i', async (seed, { signal }) => {
      const { real, copy, unlimited } = world;
      const limits = randomLimits(random);
      await world.restore();
      const key = await world.mask(limits, seed);
      const accounts = [await accountIn(real, account), await accountIn(copy, account)];
      const responses: [Question, Seen][] = [];
      const differences: unknown[] = [];

      // Nothing continues after a time-out, beside the next test.
      const askUntilTimeout: typeof ask = async (...question) => {
        signal.throwIfAborted();
        return ask(...question);
      };
      const compare = async (question: Question, expected: Seen) => {
        const found = await askUntilTimeout(real, key, question);
        if (JSON.stringify(found) !== JSON.stringify(expected))
          differences.push({ limits, question, found, expected });
      };
      const compareWithCopy = async (question: Question): Promise<Seen> => {
        const expected = await askUntilTimeout(copy, unlimited, question);
        responses.push([question, expected]);
        await compare(question, expected);
        return expected;
      };
      const compareAllPages = async ([path, asking]: Question, isFirst = true): Promise<void> => {
        const { etag, link } = (await compareWithCopy([path, asking])).headers;
        if (etag !== undefined && isFirst) {
          await compareWithCopy([path, { headers: { 'If-None-Match': etag } }]);
          const all = await askUntilTimeout(real, unlimited, [path, {}]);
          tags.push(etag, all.headers['etag'] ?? etag);
        }
        const next = /^<\/api\/v1(.*)>/.exec(link ?? '')?.[1];
        if (next !== undefined) await compareAllPages([next, asking], false);
      };

      const questions = Array.from({ length: REQUESTS }, () =>
        randomQuestion(random, accounts, tags),
      );
      await severalAtATime(questions, (question) => compareAllPages(question));
      await world.vary();
      await severalAtATime(responses, ([question, expected]) => compare(question, expected));
      expect(differences).toEqual([]);
    });
  },
);

async function severalAtATime<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  for (let i = 0; i < items.length; i += AT_A_TIME)
    await Promise.all(items.slice(i, i + AT_A_TIME).map(work));
}
