import { beforeAll, expect, test } from 'vitest';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { askAnywhere, query } from '../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey } from '../support/data.ts';
import type { Exchange } from '../support/fault-proxy.ts';
import { linesIn } from '../support/request-log.ts';
import { withFaultyService } from './service.ts';

const service = withFaultyService({ vars: { EXPORT_RETRY_SECONDS: '1' } });

const ANSWER = 'Zitronengras';
const USER = 'participant-4711';
const SURVEY = 'Quittenumfrage';
let survey: TestSurvey;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), SURVEY, 2);
  await addResponses(
    survey,
    Array.from({ length: 60 }, (_, i) => ({ form: i % 2, userid: USER, response: `${ANSWER} ${'x'.repeat(100)}` })),
  );
});

const PATHS = [
  '/surveys',
  '/responses',
  '/responses/csv',
  '/responses/csv?layout=wide',
  '/responses/ndjson',
  '/responses/form-data',
  '/nowhere',
].map((path) => `/api/v1${path}`);

/** The faults. The database's error messages may be logged; its results must not be. */
const FAULTS: [string, ((exchange: Exchange) => void) | undefined][] = [
  ['nothing', undefined],
  ['answers that break off', (exchange) => exchange.cutAfter(300)],
  ['answers that are no JSON', (exchange) => exchange.reply(200, `[${ANSWER}]`)],
  ['the database', (exchange) => exchange.reply(400, '{"message":"no such table","code":"42P01","severity":"ERROR"}')],
];

test.each(FAULTS)(
  'no line has a key, its hash, an e-mail, a survey’s name or an answer, when what fails is %s',
  async (_, fault) => {
    const { account } = survey;
    const { worker } = service.stack;
    const unknown = generateApiKey();
    await askAnywhere('/api/v1/nowhere', { key: account.key }); // puts the key into the cache
    const before = linesIn(worker).length;
    service.proxy.inject(fault);
    const asked = PATHS.flatMap((path) => {
      const address = `${path.replace(/\?.*/, '')}${query({ survey: SURVEY, userid: USER, layout: path.split('layout=')[1] })}`;
      return [
        ...['GET', 'HEAD', 'OPTIONS', 'POST'].map((method) => askAnywhere(address, { key: account.key, method })),
        askAnywhere(address),
        askAnywhere(`${path.replace(/\?.*/, '')}${query({ survey: `no ${SURVEY}` })}`, { key: account.key }),
      ];
    });
    const unauthorised = askAnywhere(PATHS[0] ?? '', { key: unknown });
    const answers = await Promise.all([...asked, unauthorised]);
    expect(new Set(answers.map(({ status }) => status)).size).toBeGreaterThan(4);
    await expect.poll(() => linesIn(worker).length).toBe(before + answers.length);

    const log = worker.log();
    const secrets = [account.key, await hashApiKey(account.key), unknown, await hashApiKey(unknown), account.email];
    for (const secret of [...secrets, SURVEY, ANSWER, USER]) expect(log).not.toContain(secret);
  },
);
