import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { API } from './client.ts';
import { Mismatch, NotTested, expectEqual, expectThat } from './expect.ts';
import type { Subject } from './subject.ts';

/*
 * What a deployment can break without reading a file: access, placement, and headers.
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

export async function checkHealth({ client, started }: Subject): Promise<string> {
  const health = () => client.send('/healthz', { key: null });
  let response = await health();
  for (let attempt = 1; response.status === 503 && attempt < WAKE_UP_ATTEMPTS; attempt++) {
    await sleep(WAKE_UP_PAUSE_MS);
    response = await health();
  }
  expectEqual('/healthz: status', response.status, 200);
  expectEqual('/healthz', await response.json(), { status: 'ok' });
  const first = performance.now() - started;
  const next = await measure(health);
  const isCold = first - next > COLD_START_MS;
  return isCold ? `after ${ms(first)}, then ${ms(next)}: a cold start, or a suspended database` : '';
}

export async function checkRefusals({ client }: Subject): Promise<void> {
  for (const key of [null, generateApiKey()])
    await expectError(await client.send(`${API}/surveys`, { key }), '401 invalid_token');
}

export async function checkKey(subject: Subject): Promise<string> {
  if (subject.options.key === undefined) throw new NotTested('needs SURVEY_KEY');
  const response = await subject.client.send(`${API}//key`); // clients append paths to a base URL that ends in a slash
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
  const [names, otherNames] = [[...new Set(forms.values())], [...new Set(otherForms.values())]];
  let requests = 0;
  const expectNone = async (of: string | undefined, own: string[], all: string[]) => {
    const foreign = all.filter((name) => !own.includes(name)); // both accounts may have a survey of the same name
    for (const survey of foreign.slice(0, MAX_FOREIGN)) {
      for (const path of ['/responses', '/responses/csv']) {
        await expectError(await subject.client.send(API + path, { key: of, query: { survey } }), '500 no_responses');
        requests++;
      }
    }
  };
  await expectNone(key, names, otherNames);
  await expectNone(otherKey, otherNames, names);
  return `${requests} requests`;
}

export async function measureRoundTrips(subject: Subject): Promise<string> {
  subject.known('email');
  const [without, query]: [number[], number[]] = [[], []];
  for (let i = 0; i < SAMPLES; i++) {
    without.push(await measure(() => subject.send('/key')));
    query.push(await measure(() => subject.send('/surveys')));
  }
  const placement = subject.client.seen.at(-1)?.response.headers.get('cf-placement') ?? 'no cf-placement';
  const medianOf = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(SAMPLES / 2)] ?? 0;
  const [before, after] = [medianOf(without), medianOf(query)];
  const measured = `${placement}; ${ms(before)} without a query, ${ms(after)} with one`;
  const isFar = after - before > FAR_MS;
  return isFar ? `${measured}\nthe Worker is far from its database: see "Placement" in docs/deploy.md` : measured;
}

/** Tests the headers of all responses so far. */
export async function checkHeaders({ client }: Subject): Promise<string> {
  const preflight = { 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'authorization' };
  const headers = { Origin: 'https://example.org', ...preflight };
  const { status, headers: sent } = await client.send(`${API}/responses`, { method: 'OPTIONS', key: null, headers });
  const isAllowed = status < 300 && /authorization/i.test(sent.get('Access-Control-Allow-Headers') ?? '');
  expectThat(isAllowed, `a preflight for the header Authorization: status ${status}, which does not allow it`);

  const ids = new Set<string>();
  const problems = new Set<string>();
  for (const { path, response } of client.seen) {
    const expect = (name: string, isRight: (value: string) => boolean) => {
      const value = response.headers.get(name) ?? 'missing';
      if (!isRight(value)) problems.add(`${path} (${response.status}): ${name} is ${JSON.stringify(value)}`);
    };
    expect('Cache-Control', (value) => value === 'private, no-store');
    expect('CF-Cache-Status', (value) => !value.includes('HIT'));
    expect('Access-Control-Allow-Origin', (value) => value === '*');
    expect('X-Request-Id', (value) => value !== 'missing' && !ids.has(value));
    ids.add(response.headers.get('X-Request-Id') ?? '');
  }
  if (problems.size > 0) throw new Mismatch([...problems].slice(0, 3).join('\n'));
  return `${client.seen.length} responses`;
}

/** @param expected status and `X-Error-Code`. @throws Mismatch unless the response has both */
async function expectError(response: Response, expected: string): Promise<void> {
  await response.text();
  const found = `${response.status} ${response.headers.get('X-Error-Code') ?? 'without X-Error-Code'}`;
  expectThat(found === expected, `${new URL(response.url).pathname}: ${found}, not ${expected}`);
}

/** Milliseconds to the headers of a response. */
async function measure(send: () => Promise<Response>): Promise<number> {
  const started = performance.now();
  const response = await send();
  const waited = performance.now() - started;
  await response.text();
  return waited;
}

const ms = (duration: number) => `${Math.round(duration).toLocaleString('en-US')} ms`;
