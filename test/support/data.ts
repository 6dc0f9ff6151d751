import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { apiKeyPrefix, hashApiKey } from '../../src/auth/api-key.ts';
import * as bench from '../../bench/data.ts';
import { stackAddress } from './stack-address.ts';
import type { Row } from './wide.ts';

export type TestAccount = bench.BenchAccount;

export interface TestSurvey {
  readonly name: string;
  readonly account: TestAccount;
  readonly forms: readonly TestForm[];
}

export interface TestForm {
  readonly id: string;
  readonly shortcode: string;
}

/**
 * A response's columns. Those left out get a default. `metadata` is JSON text, so that its digits
 * stay as they are.
 */
export interface TestResponse extends Partial<
  Omit<Row, 'surveyid' | 'parent_surveyid' | 'question_idx' | 'values'>
> {
  /** Index of its form version in {@link TestSurvey.forms}. */
  readonly form?: number;
  readonly parent?: string | null;
  readonly question_idx?: number;
}

/**
 * Connections to the database of each service, kept open: to connect takes longer than most
 * queries.
 */
const pools: Record<string, pg.Pool> = {};

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, allowExitOnIdle: true });
  pool.on('error', () => {}); // an idle connection was lost: the pool opens a new one
  // lost between two statements: the next one fails
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Runs `work` on a connection of its own, which is used again unless it fails. */
export async function withClient<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { databaseUrl } = stackAddress();
  const pool = (pools[databaseUrl] ??= openPool(databaseUrl));
  // the pool creates clients of this class
  const client = (await pool.connect()) as pg.Client & pg.PoolClient;
  let isLost = true;
  try {
    const result = await work(client);
    isLost = false;
    return result;
  } finally {
    client.release(isLost);
  }
}

export async function sql<T extends pg.QueryResultRow>(
  text: string,
  params: unknown[] = [],
): Promise<T[]> {
  return withClient(async (client) => (await client.query<T>(text, params)).rows);
}

/** Creates an account with a key. Tests share a database but not accounts. */
export const createAccount = (): Promise<TestAccount> =>
  withClient((client) => bench.createAccount(client, `${randomUUID()}@example.org`));

export async function storeKey(
  account: string,
  key: string,
  {
    expires = null,
    revoked = null,
    limits = null,
  }: { expires?: Date | null; revoked?: Date | null; limits?: object | null } = {},
): Promise<void> {
  const insert = `insert into api_keys (userid, name, prefix, hash, expires, revoked, limits)
    values ($1, 'test', $2, $3, $4, $5, $6)`;
  await sql(insert, [account, apiKeyPrefix(key), await hashApiKey(key), expires, revoked, limits]);
}

/**
 * Creates a survey. @param forms number of form versions: their shortcodes are f0, f0, f1, f1, …,
 * created a day apart
 */
export async function createSurvey(
  account: TestAccount,
  name: string = randomUUID(),
  forms = 1,
): Promise<TestSurvey> {
  const rows = await sql<TestForm>(
    `insert into surveys (userid, survey_name, shortcode, title, formid, created, metadata)
     select $1, $2, 'f' || i / 2, 'Title ' || i, 'form ' || i, '2026-01-01T00:00:00.123456Z'::timestamptz + i * interval '1 day',
       jsonb_build_object('wave', i)
     from generate_series(0, $3 - 1) i
     returning id, shortcode`,
    [account.id, name, forms],
  );

  return { name, account, forms: rows };
}

/**
 * Creates a survey of many responses, as a benchmark's. @param options those of the benchmark's
 * `createSurvey`
 */
export async function createBulkSurvey(
  account: TestAccount,
  options: {
    rows: number;
    forms: number;
    columns?: Readonly<Record<string, string>>;
    name?: string;
  },
): Promise<TestSurvey> {
  const { name, forms } = await withClient((client) =>
    bench.createSurvey(client, account, { name: `bulk ${randomUUID()}`, ...options }),
  );

  return { name, account, forms: forms.map((id) => ({ id, shortcode: 'form' })) };
}

export async function addResponses(
  survey: TestSurvey,
  responses: readonly TestResponse[],
): Promise<void> {
  const rows = responses.map(({ form: index = 0, parent, ...given }, i) => {
    const form = survey.forms[index];
    return {
      parent_surveyid: parent === undefined ? form?.id : parent,
      parent_shortcode: 'parent',
      surveyid: form?.id,
      shortcode: form?.shortcode,
      flowid: '1600000000001',
      userid: 'user',
      question_ref: `q${i}`,
      question_idx: i,
      question_text: 'Question?',
      response: 'Answer',
      timestamp: '2026-03-01T00:03:43.770047Z',
      metadata: '{}',
      ...given,
    };
  });

  await insertResponses(rows);
}

/**
 * Creates a survey with responses, and the form versions that they are to. @param given by default, a
 * new account and name
 */
export async function storeSurvey(
  responses: readonly TestResponse[],
  given: { account?: TestAccount; name?: string } = {},
): Promise<TestSurvey> {
  const forms = 1 + Math.max(...responses.map(({ form = 0 }) => form));
  const account = given.account ?? (await createAccount());
  const survey = await createSurvey(account, given.name, forms);
  await addResponses(survey, responses);
  return survey;
}

/** Inserts responses. @param rows their columns, with metadata as JSON text */
export async function insertResponses(rows: readonly object[]): Promise<void> {
  const columns = `parent_surveyid, parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx,
    question_text, response, timestamp, pageid, translated_response`;
  const insert = `insert into responses (${columns}, metadata)
    select ${columns}, (metadata #>> '{}')::jsonb from json_populate_recordset(null::responses, $1)`;
  await sql(insert, [JSON.stringify(rows)]);
}

/** SQL for the API's timestamps, written differently from the service's. */
const ISO = String.raw`regexp_replace(to_char(r.timestamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '(\.\d{3})000$', '\1') || 'Z'`;

const quoted = (text: string, mark: string) => mark + text.replaceAll(mark, mark + mark) + mark;

/**
 * The expected CSV export of a survey, byte for byte: the output of COPY. @param keys the metadata
 * keys to add as columns
 */
export function copyResponses(survey: TestSurvey, keys: readonly string[] = []): Promise<Buffer> {
  const metadata = keys.map(
    (key) => `, metadata->>${quoted(key, `'`)} as ${quoted(`metadata.${key}`, '"')}`,
  );

  const select = `
    select parent_surveyid, parent_shortcode, surveyid, flowid, userid, question_ref, question_idx, question_text,
      response, ${ISO} as timestamp, metadata, metadata->>'ad_id' as ad_id, pageid, translated_response${metadata.join('')}
    from responses r where surveyid in (${survey.forms.map(({ id }) => `'${id}'`).join(', ')})
    order by r.timestamp, userid, question_ref, surveyid`;
  return withClient((client) =>
    buffer(client.query(copyTo(`copy (${select}) to stdout (format csv, header)`))),
  );
}
