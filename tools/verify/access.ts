import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey, generateLimitedApiKey } from '../../src/auth/api-key.ts';
import { type ShownLimits, inShort } from '../keys/shown-limits.ts';
import { API, NotTested, type RequestOptions, type Subject, expectEqual, ms } from './subject.ts';

/** A suspended database wakes up in seconds. */
const WAKE_UP_ATTEMPTS = 4;
const WAKE_UP_PAUSE_MS = 3_000;
/** If the first response takes this much longer than the next one, it includes a cold start. */
const COLD_START_MS = 500;
/** The most surveys of another account that are requested. */
const MAX_FOREIGN = 20;
/** The shortest of so many round trips is measured. */
const SAMPLES = 5;
/** A query takes less if the database is in the region of the Worker. */
const FAR_MS = 50;

export async function checkHealth(subject: Subject): Promise<string> {
  const started = performance.now();
  const isAwake = async () =>
    (
      await receive(subject, '/healthz', {
        key: null,
        expected: ['200', '503 database_unavailable'],
      })
    ).ok;
  for (let i = 1; i < WAKE_UP_ATTEMPTS && !(await isAwake()); i++) await sleep(WAKE_UP_PAUSE_MS);
  const first = performance.now() - started;
  const { waited: next, text } = await receive(subject, '/healthz', { key: null });
  expectEqual('/healthz', text, '{"status":"ok"}');
  const isCold = first - next > COLD_START_MS;
  return isCold
    ? `after ${ms(first)}, then ${ms(next)}: a cold start, or a suspended database`
    : '';
}

export async function checkRefusals(subject: Subject): Promise<void> {
  for (const key of [null, generateApiKey(), generateLimitedApiKey()])
    await receive(subject, `${API}/surveys`, { key, expected: ['401 invalid_token'] });
}

export async function checkKey(subject: Subject): Promise<string> {
  const { key } = subject.options;
  if (key === undefined) throw new NotTested('needs SURVEY_EXPORT_KEY');
  // Clients append paths to a base URL that ends in a slash.
  const response = await subject.request(`${API}//key`, {
    key,
    expected: ['200', '401 invalid_token'],
  });

  assert(
    response.ok,
    'the service refuses the key: is it complete, and was it issued for this service?',
  );

  const { email, expires, limits } = (await response.json()) as {
    email: string;
    expires: string | null;
    limits: ShownLimits;
  };

  subject.account = { key, email };
  const sees = limits === null ? '' : `; sees ${inShort(limits)}`;
  return `${email}; ${expires === null ? 'does not expire' : `expires ${expires}`}${sees}`;
}

export async function checkScoping(subject: Subject): Promise<string> {
  const { key, email } = subject.known('account');
  const { otherKey } = subject.options;
  if (otherKey === undefined)
    throw new NotTested('needs SURVEY_EXPORT_KEY_2, a key of another account');
  const other = await subject.json<{ email: string }>(`${API}/key`, { key: otherKey });
  if (other.email === email)
    throw new NotTested(`SURVEY_EXPORT_KEY_2 is a key of the same account, ${email}`);
  const [surveys, otherSurveys] = [await subject.surveys(key), await subject.surveys(otherKey)];
  const ids = new Set([...surveys.values()].flat().map(({ id }) => id));
  for (const { id, survey_name: name } of [...otherSurveys.values()].flat())
    assert(!ids.has(id), `both keys list ${JSON.stringify(name)}`);
  let requests = 0;
  for (const [of, own, others] of [
    [key, surveys, otherSurveys] as const,
    [otherKey, otherSurveys, surveys] as const,
  ]) {
    // both may have a survey of the same name
    const foreign = [...others.keys()].filter((name) => !own.has(name));
    for (const survey of foreign.slice(0, MAX_FOREIGN)) {
      for (const path of ['/responses', '/responses/csv']) {
        await receive(subject, API + path, {
          key: of,
          query: { survey },
          expected: ['500 no_responses'],
        });
        requests++;
      }
    }
  }

  return `${requests} requests`;
}

export async function measureRoundTrips(subject: Subject): Promise<string> {
  let [without, query, placement] = [Infinity, Infinity, ''];
  for (let i = 0; i < SAMPLES; i++) {
    without = Math.min(without, (await receive(subject, `${API}/key`)).waited);
    const { waited, headers } = await receive(subject, `${API}/surveys`);
    query = Math.min(query, waited);
    placement = headers.get('cf-placement') ?? 'no cf-placement';
  }

  const measured = `${placement}; ${ms(without)} without a query, ${ms(query)} with one`;
  const isFar = query - without > FAR_MS;
  return isFar
    ? `${measured}\nthe Worker is far from its database: see "Placement" in docs/deploy.md`
    : measured;
}

/** @returns a response, and the milliseconds to its headers */
async function receive(subject: Subject, path: string, options?: RequestOptions) {
  const started = performance.now();
  const response = await subject.request(path, options);
  const waited = performance.now() - started;
  return { ok: response.ok, headers: response.headers, text: await response.text(), waited };
}
