import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateLimitedApiKey } from '../../src/auth/api-key.ts';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import {
  type TestSurvey,
  addResponses,
  createAccount,
  createSurvey,
  storeKey,
} from '../support/data.ts';
import { hasPython } from '../support/needed-programs.ts';
import { runProgram } from '../support/programs.ts';
import { type Random, below, pick, randomFrom } from '../support/random.ts';
import { useStack } from '../support/stack-address.ts';
import { type Stack, startStack } from '../support/stack.ts';

/*
 * The answers and where participants stop, as counts.py counts them in the files that a key can
 * download. For 500 requests and other seeds: TEST_REQUESTS=500 TEST_SEED=7 npx vitest run
 * --project service test/auth/counts.test.ts
 */

const REQUESTS = process.env['TEST_REQUESTS'] ?? '20';
const SEED = Number(process.env['TEST_SEED'] ?? 1);
const COUNTS = fileURLToPath(new URL('counts.py', import.meta.url));

/** The names of some columns are equal but for a number, or those of other columns. */
const QUESTIONS = ['q', 'Q', 'f1.q', 'q_2', 'é', 'z', 'userid', 'metadata.m', 'arm.seed_2', ''];
const LONG = 'x'.repeat(1000);
const NUMBERS = [
  ...['0', '-0', '0.00', '1', '1.50', '1.5', '2', '100', '-3', '-1', '4', '20', '0.1', '0.15'],
  ...['999999999999999', '-999999999999999', '0.00000000000001', '-12345.678', '123456789012.345'],
  ...['1234567890123456', '0.000000000000001', '007', '1e3', '+1', '.5', '1.', '-', '١', '1\n'],
];
const TEXTS = [
  '',
  'A',
  'b',
  'C',
  'yes',
  'Yes',
  'é',
  'e\u0301',
  '"',
  'a,\n"b"',
  `${LONG}1`,
  `${LONG}2`,
];
const QUESTION_TEXTS = ['Question?', 'Choose:\n- A. One\n- B. Two\n- C. 3'];

function metadata(random: Random): string | null {
  const some = `${below(random, 10 ** below(random, 11))}`;
  const seed = pick(random, [some, some, some, '"7"', '4294967295', '4294967296', '"x"', '"007"']);
  const group = pick(random, [below(random, 25), 'null', '{"a": 1.50}', '[]', '""', 'true']);
  const object = `{"m": "${below(random, 3)}", "group": ${group}, "seed": ${seed}, "pageid": "1"}`;
  const arm = `{"seed": ${seed}, "seed_7_10": "${pick(random, ['=1', '3'])}"}`;
  return pick(random, [object, object, object, arm, '{}', 'null', '[1]', '"m"', '7', null]);
}

/** Adds random responses, with ties in all of the order but the last column. */
async function fill(random: Random, survey: TestSurvey, count: number): Promise<void> {
  const question = () => pick(random, QUESTIONS.slice(0, pick(random, [2, QUESTIONS.length])));
  const rows = Array.from({ length: count }, () => {
    const form = below(random, survey.forms.length);
    const question_ref = question();
    const texts = pick(random, [
      NUMBERS,
      NUMBERS,
      TEXTS,
      Array.from({ length: 25 }, (_, i) => `${i}`),
    ]);
    return {
      form,
      parent: pick(random, [null, null, survey.forms[0]?.id ?? null]),
      parent_shortcode: pick(random, ['f0', 'f1']),
      flowid: pick(random, ['1', '1', '2', '3']),
      userid: `u${below(random, 30)}`,
      question_ref,
      question_idx: below(random, 3),
      question_text: pick(random, QUESTION_TEXTS),
      response: pick(random, question_ref === 'z' ? NUMBERS.slice(0, 19) : texts),
      translated_response: pick(random, [null, null, '', '2.50', 'A', 'sí']),
      timestamp: `2026-03-0${1 + below(random, 3)}T00:00:00.00000${below(random, 3)}Z`,
      metadata: metadata(random) as string,
    };
  });
  const keyOf = ({ form, timestamp, userid, question_ref }: (typeof rows)[number]) =>
    JSON.stringify([form, timestamp, userid, question_ref]);
  await addResponses(survey, [...new Map(rows.map((row) => [keyOf(row), row])).values()]);
}

const LIMITS: (KeyLimits | null)[] = [
  null,
  { v: 1, without_questions: ['q', 'z'], metadata: ['group', 'seed'], secret: 'a5'.repeat(32) },
  { v: 1, shortcodes: ['f0', 'f2'], pageid: false },
];

describe.skipIf(!hasPython).each([
  ['C', SEED],
  ['da', SEED + 1],
  ['und', SEED + 2],
] as const)('in the order of %s, seed %i', (locale, seed) => {
  const random = randomFrom(seed);
  let stack: Stack;
  const names: string[] = [];
  let account: Awaited<ReturnType<typeof createAccount>>;
  let counted = '';

  beforeAll(async () => {
    stack = await startStack({ locale, limits: { ACCOUNT_LIMIT: 1e9, FAILURE_LIMIT: 1e9 } });
    useStack(stack.address);
    account = await createAccount();
    for (const [forms, count] of [
      [1, 60],
      [5, 400],
      [7, 900],
      [2, 0],
    ] as const) {
      const survey = await createSurvey(account, `s${count}`, forms);
      await fill(random, survey, count);
      names.push(survey.name);
    }
  });
  afterAll(() => stack.stop());

  test.each(LIMITS)(
    'every number is what counting the files gives, with the limits %j',
    async (limits) => {
      useStack(stack.address);
      const key = limits ? generateLimitedApiKey() : account.key;
      if (limits) await storeKey(account.id, key, { limits });
      const { status, stdout, stderr } = await runProgram(
        [
          process.env['PYTHON'] ?? 'python3',
          COUNTS,
          stack.address.origin,
          `${seed}`,
          REQUESTS,
          ...names,
        ],
        { env: { SURVEY_EXPORT_KEY: key } },
      );
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      counted += stdout;
    },
  );

  test('some of the responses had groups', () => expect(counted).toContain('"grouped": '));
});
