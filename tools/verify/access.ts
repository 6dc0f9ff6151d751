import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { NotTested, expectEqual, expectThat } from './expect.ts';
import { API, type Subject } from './subject.ts';

/*
 * What a deployment can break without reading a file: access and placement.
 */

/** A suspended database wakes up in seconds. */
const WAKE_UP_ATTEMPTS = 4;
const WAKE_UP_PAUSE_MS = 3_000;
/** If the first response takes this much longer than the next one, it includes a cold start. */
const COLD_START_MS = 500;
/** The most surveys of another account that are requested. */
const MAX_FOREIGN = 20;
/** Requests to measure a round trip with. */
const SAMPLES = 5;
/** A query takes less if the database is in the region of the Worker. */
const FAR_MS = 50;

interface FormVersion {
  readonly id: string;
  readonly survey_name: string;
}

export async function checkHealth(subject: Subject): Promise<string> {
  const health = () => subject.request('/healthz', { key: null });
  let response = await health();
  for (let attempt = 1; response.status === 503 && attempt < WAKE_UP_ATTEMPTS; attempt++) {
    await sleep(WAKE_UP_PAUSE_MS);
    response = await health();
  }
  expectEqual('/healthz: status', response.status, 200);
  expectEqual('/healthz', await response.json(), { status: 'ok' });
  const first = performance.now() - subject.started;
  const { waited: next } = await measure(health);
  const isCold = first - next > COLD_START_MS;
  return isCold ? `after ${ms(first)}, then ${ms(next)}: a cold start, or a suspended database` : '';
}

export async function checkRefusals(subject: Subject): Promise<void> {
  for (const key of [null, generateApiKey()])
    await expectError(await subject.request(`${API}/surveys`, { key }), '401 invalid_token');
}

export async function checkKey(subject: Subject): Promise<string> {
  if (subject.options.key === undefined) throw new NotTested('needs SURVEY_KEY');
  const response = await subject.request(`${API}//key`); // clients append paths to a base URL that ends in a slash
  const { status } = response;
  expectThat(status !== 401, 'the service refuses the key: is it complete, and was it issued for this service?');
  expectEqual(`${API}//key: status`, status, 200);
  const { email, expires } = (await response.json()) as { email: string; expires: string | null };
  subject.email = email;
  return `${email}; ${expires === null ? 'does not expire' : `expires ${expires}`}`;
}

export async function checkScoping(subject: Subject): Promise<string> {
  const email = subject.known('email');
  const { key, otherKey } = subject.options;
  if (otherKey === undefined) throw new NotTested('needs SURVEY_KEY_2, a key of another account');
  const other = (await (await subject.send('/key', { key: otherKey })).json()) as { email: string };
  if (other.email === email) throw new NotTested(`SURVEY_KEY_2 is a key of the same account, ${email}`);
  /** The name of the survey of each form version, by its id. */
  const formsOf = async (of: string | undefined) => {
    const forms = (await (await subject.send('/surveys', { key: of })).json()) as FormVersion[];
    return new Map(forms.map(({ id, survey_name: name }) => [id, name]));
  };
  const [forms, otherForms] = [await formsOf(key), await formsOf(otherKey)];
  for (const [id, name] of otherForms) expectThat(!forms.has(id), `both keys list ${JSON.stringify(name)}`);
  let requests = 0;
  const accounts = [
    [key, forms, otherForms],
    [otherKey, otherForms, forms],
  ] as const;
  for (const [of, own, others] of accounts) {
    const names = new Set(own.values()); // both may have a survey of the same name
    const foreign = [...new Set(others.values())].filter((name) => !names.has(name));
    for (const survey of foreign.slice(0, MAX_FOREIGN)) {
      for (const path of ['/responses', '/responses/csv']) {
        await expectError(await subject.request(API + path, { key: of, query: { survey } }), '500 no_responses');
        requests++;
      }
    }
  }
  return `${requests} requests`;
}

export async function measureRoundTrips(subject: Subject): Promise<string> {
  subject.known('email');
  const [without, query]: [number[], number[]] = [[], []];
  let placement = '';
  for (let i = 0; i < SAMPLES; i++) {
    without.push((await measure(() => subject.send('/key'))).waited);
    const { waited, headers } = await measure(() => subject.send('/surveys'));
    query.push(waited);
    placement = headers.get('cf-placement') ?? 'no cf-placement';
  }
  const medianOf = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(SAMPLES / 2)] ?? 0;
  const [before, after] = [medianOf(without), medianOf(query)];
  const measured = `${placement}; ${ms(before)} without a query, ${ms(after)} with one`;
  const isFar = after - before > FAR_MS;
  return isFar ? `${measured}\nthe Worker is far from its database: see "Placement" in docs/deploy.md` : measured;
}

/** @param expected status and `X-Error-Code`. @throws Mismatch unless the response has both */
async function expectError(response: Response, expected: string): Promise<void> {
  await response.text();
  const found = `${response.status} ${response.headers.get('X-Error-Code') ?? 'without X-Error-Code'}`;
  expectThat(found === expected, `${new URL(response.url).pathname}: ${found}, not ${expected}`);
}

/** @returns the milliseconds to the headers of a response, and the headers */
async function measure(send: () => Promise<Response>): Promise<{ waited: number; headers: Headers }> {
  const started = performance.now();
  const response = await send();
  const waited = performance.now() - started;
  await response.text();
  return { waited, headers: response.headers };
}

const ms = (duration: number) => `${Math.round(duration).toLocaleString('en-US')} ms`;
