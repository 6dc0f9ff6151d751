import { beforeAll, expect, test } from 'vitest';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { fetchService, query } from '../support/api.ts';
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
  ['nothing fails', undefined],
  ['SQL results break off', (exchange) => exchange.cutAfter(300)],
  ['SQL results are not JSON', (exchange) => exchange.reply(200, `[${ANSWER}]`)],
  [
    'the database returns an error',
    (exchange) => exchange.reply(400, '{"message":"no such table","code":"42P01","severity":"ERROR"}'),
  ],
];

test.each(FAULTS)(
  'no log line has a key, its hash, an e-mail address, a survey’s name or an answer when %s',
  async (_, fault) => {
    const { account } = survey;
    const { worker } = service.stack;
    const unknown = generateApiKey();
    await fetchService('/api/v1/nowhere', { key: account.key }); // caches the key
    const before = linesIn(worker).length;
    service.proxy.inject(fault);
    const authorised = PATHS.flatMap((path) => {
      const address = `${path.replace(/\?.*/, '')}${query({ survey: SURVEY, userid: USER, layout: path.split('layout=')[1] })}`;
      return [
        ...['GET', 'HEAD', 'OPTIONS', 'POST'].map((method) => fetchService(address, { key: account.key, method })),
        fetchService(address),
        fetchService(`${path.replace(/\?.*/, '')}${query({ survey: `no ${SURVEY}` })}`, { key: account.key }),
      ];
    });
    const unauthorised = fetchService(PATHS[0] ?? '', { key: unknown });
    const responses = await Promise.all([...authorised, unauthorised]);
    expect(new Set(responses.map(({ status }) => status)).size).toBeGreaterThan(4);
    await expect.poll(() => linesIn(worker).length).toBe(before + responses.length);

    const log = worker.log();
    const secrets = [account.key, await hashApiKey(account.key), unknown, await hashApiKey(unknown), account.email];
    for (const secret of [...secrets, SURVEY, ANSWER, USER]) expect(log).not.toContain(secret);
  },
);
