import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stringify } from 'csv-stringify/sync';
import { onTestFinished } from 'vitest';
import { CSV_COLUMNS } from '../../src/responses/columns.ts';

/** A form version of the platform. `created` is as CockroachDB prints it; metadata are JSON text. */
export interface PlatformForm {
  id: string;
  survey_name: string;
  shortcode: string;
  created: string;
  title?: string;
  formid?: string;
  metadata?: string;
  translation_conf?: unknown;
  off_time?: string | null;
  timeouts?: unknown;
}

/** A response of the platform. `timestamp` is as CockroachDB prints it; metadata are JSON text. */
export interface PlatformResponse {
  surveyid: string;
  userid: string;
  question_ref: string;
  timestamp: string;
  metadata?: string | null;
  [column: string]: string | null | undefined;
}

export interface PlatformAccount {
  key: string;
  forms: PlatformForm[];
  responses: PlatformResponse[];
}

/** The columns of a response that tests need not name. */
export const DEFAULTS = {
  parent_shortcode: 'start',
  flowid: '1',
  question_idx: '0',
  question_text: 'How are you?',
  response: '',
  pageid: null,
  translated_response: null,
};

type Query = Record<string, string | undefined>;

/** A time as CockroachDB prints it, as text that sorts by time. */
function sortable(timestamp: string): string {
  const [time = '', fraction = ''] = timestamp.replace(/(\+00(:00)?|Z)$/, '').split('.');
  return `${time.replace('T', ' ')}.${fraction.padEnd(6, '0')}`;
}

/** Orders items by a text of each. */
const by =
  <T>(textOf: (item: T) => string) =>
  (a: T, b: T) =>
    textOf(a) < textOf(b) ? -1 : Number(textOf(a) > textOf(b));

const orderOf = (timestamp: string, ...others: string[]) =>
  [sortable(timestamp), ...others].join('\0');
const responseOrder = ({ timestamp, userid, question_ref: ref }: PlatformResponse) =>
  orderOf(timestamp, userid, ref);
const formOrder = ({ created }: PlatformForm) => sortable(created);

/**
 * A stand-in for the survey platform's API, which does what its code does: github.com/vlab-research/fly,
 * dashboard-server, August 2026. It stops at the end of the test.
 *
 * @param accounts may change while it runs
 */
export async function startPlatform(accounts: PlatformAccount[]) {
  const requests: string[] = [];
  const platform = {
    /** Pages are at most this long, unlike the platform's: to have many of them. */
    maxPage: Infinity,
    /** Called before each response. It may respond instead. */
    intercept: (_request: IncomingMessage, _response: ServerResponse): void => {},
  };

  function responsesOf({ forms, responses }: PlatformAccount, survey: string) {
    const versions = new Map(forms.map((form) => [form.id, form]));
    return responses
      .filter(({ surveyid }) => versions.get(surveyid)?.survey_name === survey)
      .toSorted(by(responseOrder))
      .map((row) => {
        const metadata = JSON.parse(row.metadata ?? 'null') as { ad_id?: unknown } | null;
        const { shortcode } = versions.get(row.surveyid) ?? {};
        const made = { parent_surveyid: null, metadata, ad_id: metadata?.ad_id ?? null };
        return Object.assign({}, DEFAULTS, row, { shortcode }, made);
      });
  }

  /** queries/responses/response.queries.js: all */
  function page(account: PlatformAccount, { survey = '', after, pageSize = '25' }: Query) {
    const from = after === undefined ? '1970-01-01 00:00:00+00:00,,' : atob(after);
    const [timestamp = '', userid = '', ref = ''] = from.split(',');
    const isKnown = accounts.some((any) => responsesOf(any, survey).length > 0);
    if (!isKnown) throw new Error('No responses were found');
    const size = Math.min(Number(pageSize), platform.maxPage);
    return responsesOf(account, survey)
      .filter((row) => responseOrder(row) > orderOf(timestamp, userid, ref))
      .slice(0, size)
      .map((row) => {
        const token = btoa([row.timestamp, row.userid, row.question_ref].join(',')); // throws beyond Latin-1
        return Object.assign(row, { timestamp: new Date(row.timestamp).toISOString(), token });
      });
  }

  function formData({ forms }: PlatformAccount, survey: string) {
    const versions = new Map<string, number>();
    return forms
      .filter(({ survey_name: name }) => name === survey)
      .toSorted(by(formOrder))
      .map(({ id: surveyid, shortcode, survey_name, created: survey_created, metadata }) => {
        const version = (versions.get(shortcode) ?? 0) + 1;
        versions.set(shortcode, version);
        const parsed = JSON.parse(metadata ?? '{}') as unknown;
        return { surveyid, shortcode, survey_name, version, survey_created, metadata: parsed };
      })
      .toSorted(by(({ shortcode }) => shortcode));
  }

  const surveyOf = ({ created, metadata = '{}', ...form }: PlatformForm) => ({
    title: `Title of ${form.shortcode}`,
    translation_conf: {},
    formid: 'aBcD',
    off_time: null,
    timeouts: null,
    ...form,
    created: new Date(created).toISOString(),
    metadata: JSON.parse(metadata) as unknown,
  });

  function respond(
    account: PlatformAccount,
    path: string,
    query: Query,
    response: ServerResponse,
  ): void {
    const { survey = '' } = query;
    const json = (status: number, body: unknown) => {
      response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
      response.end(JSON.stringify(body));
    };

    const csv = (rows: object[], name: string, columns?: readonly string[]) => {
      response.setHeader('Content-Disposition', `attachment; filename="${name}_now.csv"`); // throws beyond Latin-1
      response.writeHead(200, { 'Content-Type': 'text/csv' });
      const options = { header: true, ...(columns && { columns: [...columns] }) };
      response.end(rows.length > 0 ? stringify(rows, options) : ''); // without rows, no header
    };

    try {
      if (path === '/responses') json(200, { responses: page(account, query) });
      else if (path === '/responses/csv')
        csv(responsesOf(account, decodeURIComponent(survey)), 'responses', CSV_COLUMNS);
      else if (path === '/responses/form-data')
        csv(formData(account, decodeURIComponent(survey)), survey);
      else if (path === '/surveys')
        json(200, account.forms.toSorted((a, b) => by(formOrder)(b, a)).map(surveyOf));
      else response.writeHead(404).end('Cannot GET');
    } catch (error) {
      if (path === '/responses') json(500, { error: { message: error } }); // an Error's JSON is {}
      else response.writeHead(500).end();
    }
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://host');
    requests.push(request.url ?? '');
    platform.intercept(request, response);
    if (response.headersSent || response.destroyed) return;
    const account = accounts.find(({ key }) => request.headers.authorization === `Bearer ${key}`);
    const path = pathname.replace('/api/v1', '');
    if (!account)
      response.writeHead(401).end(JSON.stringify({ error: { message: 'Invalid Token.' } }));
    else respond(account, path, Object.fromEntries(searchParams), response);
  }).listen(0, '127.0.0.1');

  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(platform, {
    url: `http://127.0.0.1:${port}/api/v1`,
    /** The path and query of each request. */
    requests,
  });
}
