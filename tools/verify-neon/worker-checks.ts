import type { Client } from 'pg';
import { connect } from '../../src/db/client.ts';
import { boundedPageQuery, countResponses, findBoundaries, pageQuery } from '../../src/db/responses.ts';
import { CSV_COLUMNS } from '../../src/responses/columns.ts';
import { DatabaseError } from '../../src/db/errors.ts';
import { sql } from '../../src/db/sql.ts';
import { findSurvey, formDataQuery, hasResponses, surveysQuery } from '../../src/db/surveys.ts';
import { csvEncoder } from '../../src/encode/csv.ts';
import { select } from '../../src/responses/selection.ts';
import { isNeonHost } from '../neon-host.ts';
import { NotTested, expectEqual, expectThat } from '../verify/expect.ts';
import type { Check } from '../verify/run-checks.ts';
import type { Identity, SqlEndpoint } from './endpoint.ts';
import { type Sandbox, migrateSandbox, prepareRole } from './sandbox.ts';

/** A database in which the sandbox's schema exists. */
export interface WorkerTarget {
  readonly endpoint: SqlEndpoint;
  /** A client of the database itself, without the endpoint. */
  readonly owner: Client;
  readonly sandbox: Sandbox;
  /** Whether the endpoint checks the role's own password. */
  readonly hasOwnPassword: boolean;
}

const TABLES = ['users', 'surveys', 'survey_settings', 'responses', 'api_keys', 'api_key_uses'];
const NOT_ALLOWED = '42501';
const RESPONSES = 250;
const PAGE = 100;

/** Whether a database suits the Worker. The first check creates what the others need. */
export const WORKER_CHECKS: readonly Check<WorkerTarget>[] = [
  {
    name: 'the migrations create the tables and the role',
    async run({ owner, sandbox }) {
      try {
        return `${(await migrateSandbox(owner, sandbox)).length} migrations`;
      } finally {
        await prepareRole(owner, sandbox);
      }
    },
  },
  {
    name: 'the role has a statement timeout',
    async run({ owner, sandbox }) {
      await requireTables(owner, sandbox);
      const { rows } = await owner.query<{ rolconfig: string[] }>('select rolconfig from pg_roles where rolname = $1', [
        sandbox.name,
      ]);
      const settings = rows[0]?.rolconfig ?? [];
      expectThat(
        settings.some((one) => /^statement_timeout=[1-9]/.test(one)),
        `it has ${settings.join(', ') || 'no settings'}`,
      );
      return settings.join(', ');
    },
  },
  {
    name: 'the role reads the service’s tables, and cannot change them',
    async run({ endpoint, owner, sandbox: { name, password } }) {
      await requireTables(owner, { name });
      const headers = endpoint.as({ user: name, password });
      for (const table of TABLES) {
        await endpoint.rowsOf(`select count(*) from ${table}`, [], headers);
        const { code } = await endpoint.failure({ query: `delete from ${table}` }, headers);
        expectEqual(`delete from ${table}`, code, NOT_ALLOWED);
      }
    },
  },
  {
    name: 'the Worker’s queries return what was stored',
    async run({ endpoint, owner, sandbox: { name, password } }) {
      await requireTables(owner, { name });
      const account = await storeResponses(owner, name);
      const db = connect({
        DATABASE_URL: endpoint.connectionString({ user: name, password }),
        SQL_ENDPOINT: endpoint.url,
      });
      const { signal } = new AbortController();
      const forms = await findSurvey(db, account, 'survey', signal);
      expectEqual('form versions', forms.length, 2);
      expectEqual('/surveys', (await db.rows(surveysQuery(account, 10), { signal })).length, 2);
      expectEqual('form-data', (await db.rows(formDataQuery(account, 'survey', 10), { signal })).length, 2);
      expectEqual('whether there are responses', await hasResponses(db, account, 'survey', signal), true);
      const survey = { accountId: account, name: 'survey' };
      const selection = select(survey, forms, {});
      expectEqual('count', await countResponses(db, selection, undefined, signal), RESPONSES);
      const range = { after: undefined, limit: RESPONSES };
      const boundaries = await findBoundaries(db, selection, range, PAGE, undefined, signal);
      expectEqual('page boundaries', boundaries.length, Math.floor(RESPONSES / PAGE));
      const rest = { after: boundaries[0], limit: RESPONSES };
      const page = await db.rows(pageQuery(selection, rest, CSV_COLUMNS), { signal });
      expectEqual('a page', page.length, RESPONSES - PAGE);
      const times = page.map((row) => String(row[CSV_COLUMNS.indexOf('timestamp')]));
      expectThat(
        times.every((time, i) => i === 0 || time > String(times[i - 1])),
        'a page is not in order',
      );
      const encode = csvEncoder({ columns: CSV_COLUMNS.length, keyColumns: [] });
      for (const [filters, rowCount] of [[{}, RESPONSES] as const, [{ question_ref: ['none'] }, 0] as const]) {
        const filtered = select(survey, forms, filters);
        const query = boundedPageQuery(filtered, range, CSV_COLUMNS) ?? pageQuery(filtered, range, CSV_COLUMNS);
        expectEqual('an encoded page', (await db.page(query, { signal }, encode)).rowCount, rowCount);
      }
    },
  },
  ...refusedLogins([
    ['a wrong password', ({ sandbox }) => ({ user: sandbox.name, password: 'wrong' })],
    ['an unknown endpoint', ({ endpoint }) => ({ host: unknownHost(endpoint) })],
  ]),
  {
    name: 'a new password holds at once, and the old one no longer',
    isDetail: true,
    async run({ endpoint, owner, hasOwnPassword, sandbox: { name, password } }) {
      if (!hasOwnPassword) throw new NotTested('with --role-password, the endpoint has its own password');
      await owner.query(`alter role ${name} password 'another-${password}'`);
      try {
        const renewed = endpoint.as({ user: name, password: `another-${password}` });
        expectEqual('with the new one', (await endpoint.post({ query: 'select 1' }, renewed)).status, 200);
        const old = await endpoint.post({ query: 'select 1' }, endpoint.as({ user: name, password }));
        expectEqual('with the old one', old.status, 400);
      } finally {
        await owner.query(`alter role ${name} password '${password}'`);
      }
    },
  },
];

function refusedLogins(cases: readonly [string, (target: WorkerTarget) => Identity][]): Check<WorkerTarget>[] {
  return cases.map(([what, identityOf]) => ({
    name: `${what} makes the database unavailable to the Worker`,
    async run(target) {
      const { endpoint } = target;
      const db = connect({
        DATABASE_URL: endpoint.connectionString(identityOf(target)),
        SQL_ENDPOINT: endpoint.url,
      });
      const { signal } = new AbortController();
      const error: unknown = await db
        .execute({ text: sql`select 1` }, { signal, retry: 'probe' })
        .catch((one: unknown) => one);
      expectThat(error instanceof DatabaseError, 'it is accepted');
      expectThat(error.kind === 'unavailable', `it is "${error.kind}": ${error.message}`);
      return error.message;
    },
  }));
}

function unknownHost(endpoint: SqlEndpoint): string {
  const { hostname } = new URL(endpoint.connectionString());
  if (!isNeonHost(hostname)) throw new NotTested(`${hostname} is not a host of Neon`);
  return hostname.replace(/^[^.]+/, 'ep-not-there-a0000000');
}

async function requireTables(owner: Client, { name }: Pick<Sandbox, 'name'>): Promise<void> {
  const { rows } = await owner.query('select where to_regclass($1) is null', [`${name}.responses`]);
  if (rows.length > 0) throw new NotTested('for the reason given above');
}

/** Stores an account with a survey of two form versions. @returns the account's id */
async function storeResponses(owner: Client, schema: string): Promise<string> {
  const { rows } = await owner.query<{ id: string }>(
    `with account as (insert into ${schema}.users (email) values ('verify@example.org') returning id),
     forms as (
       insert into ${schema}.surveys (userid, survey_name, shortcode, title, formid)
       select id, 'survey', 'form', 'Title', 'form ' || i from account, generate_series(1, 2) i
       returning id)
     insert into ${schema}.responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx,
       question_text, response, timestamp)
     select 'form', (select id from forms order by id offset i % 2 limit 1), 'form', i, 'user ' || i % 9, 'q' || i, i,
       'Question?', 'Answer', '2026-03-01T00:00:00Z'::timestamptz + i * interval '1 ms'
     from generate_series(1, $1::int) i
     returning (select id from account)`,
    [RESPONSES],
  );
  return rows[0]?.id ?? '';
}
