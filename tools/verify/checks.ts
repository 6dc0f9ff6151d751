import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { EXPOSED_HEADERS } from '../../src/http/exposed-headers.ts';
import { API, type Reply, type TextReply, jsonOf, quoted } from './client.ts';
import { csvRecords } from './csv-records.ts';
import { checkDigests } from './digests.ts';
import { Mismatch, NotTested, expectEqual, expectThat } from './expect.ts';
import type { Check } from './run-checks.ts';
import { CSV_COLUMNS, type Row, addRow, addTexts, expectRow } from './responses.ts';
import { type Subject, hashing, megabytes } from './subject.ts';
import { checkLabels, checkWide } from './wide.ts';

const NO_KEY = { key: null };
/** A suspended database wakes up in seconds. */
const WAKE_UP_ATTEMPTS = 4;
const WAKE_UP_PAUSE_MS = 3_000;
/** A shorter body is not compressed. */
const MIN_COMPRESSED_BYTES = 1024;

/**
 * What must hold for a running service, as docs/api.md describes it. To add a check, add a row: it needs a statement and a
 * function that throws a Mismatch, or a NotTested.
 */
export const CHECKS: readonly Check<Subject>[] = [
  {
    name: '/healthz is 200: the service reaches its database',
    async run({ client }) {
      for (let attempt = 1; ; attempt++) {
        const reply = await client.get('/healthz', NO_KEY);
        if (reply.status === 503 && attempt < WAKE_UP_ATTEMPTS) {
          await sleep(WAKE_UP_PAUSE_MS);
          continue;
        }
        expectEqual('GET /healthz: status', reply.status, 200);
        expectEqual('GET /healthz', jsonOf(reply), { status: 'ok' });
        return attempt > 1 ? `at attempt ${attempt}: a suspended database?` : undefined;
      }
    },
  },
  {
    name: '/openapi.json describes the API',
    async run({ client }) {
      const reply = await client.get('/openapi.json', NO_KEY);
      expectEqual('GET /openapi.json: status', reply.status, 200);
      const { openapi, paths } = jsonOf(reply) as { openapi?: string; paths?: object };
      expectThat(openapi?.startsWith('3.1.') === true, `GET /openapi.json: version ${quoted(openapi ?? 'missing')}`);
      expectThat(`${API}/responses` in Object(paths), `GET /openapi.json: no ${API}/responses`);
    },
  },
  {
    name: 'without a valid key, every path is 401 with WWW-Authenticate',
    async run({ client }) {
      for (const path of ['/surveys', '/responses', '/nowhere']) {
        for (const key of [null, 'not-a-key', generateApiKey()]) {
          const reply = await client.get(API + path, { key });
          expectError(reply, 401, 'invalid_token', 'Invalid Token.');
          expectEqual(`${reply.request}: WWW-Authenticate`, reply.header('WWW-Authenticate'), 'Bearer');
        }
      }
    },
  },
  {
    name: 'an unknown path is 404, another method 405 with Allow',
    async run({ client }) {
      expectError(await client.get('/nowhere', NO_KEY), 404, 'not_found', /./);
      const reply = await client.get('/healthz', { ...NO_KEY, method: 'DELETE' });
      expectError(reply, 405, 'method_not_allowed', /GET/);
      expectEqual(`${reply.request}: Allow`, reply.header('Allow'), 'GET, HEAD');
    },
  },
  {
    name: 'a CORS preflight needs no key and allows the Authorization header',
    async run({ client }) {
      const headers = {
        Origin: 'https://example.org',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization',
      };
      const reply = await client.get(`${API}/responses`, { ...NO_KEY, method: 'OPTIONS', headers });
      expectThat(reply.status === 204 || reply.status === 200, `${reply.request}: status ${reply.status}`);
      expectEqual(`${reply.request}: Access-Control-Allow-Origin`, reply.header('Access-Control-Allow-Origin'), '*');
      for (const [name, value] of [
        ['Access-Control-Allow-Headers', 'authorization'],
        ['Access-Control-Allow-Methods', 'get'],
      ] as const)
        expectThat(listOf(reply, name).includes(value), `${reply.request}: ${name} does not include ${value}`);
    },
  },
  {
    name: '/surveys lists the form versions, newest first',
    async run({ surveys }) {
      const names = await surveys.check();
      return `${names.length} of ${new Set(names).size} ${new Set(names).size === 1 ? 'survey' : 'surveys'}`;
    },
  },
  {
    name: 'a base URL may end in a slash',
    async run({ client, surveys }) {
      await surveys.known();
      expectEqual(`GET ${API}//surveys: status`, (await client.get(`${API}//surveys`)).status, 200);
    },
  },
  {
    name: 'HEAD has no body, and counts the responses in X-Total-Count',
    async run({ survey }) {
      const { name, total } = await survey.check();
      return `${total} in ${quoted(name)}`;
    },
  },
  {
    name: 'a missing survey and bad parameters are 400, an unknown survey 500',
    async run(subject) {
      const { client } = subject;
      const { name: survey } = await subject.survey.known();
      const bad = (name: string, value: string) =>
        [{ survey, [name]: value }, 400, 'invalid_parameter', new RegExp(`^${name} `)] as const;
      const none = `No responses were found for survey: ${survey} ? for user: `;
      const refused: (readonly [Record<string, string>, number, string, string | RegExp])[] = [
        [{}, 400, 'missing_survey', 'No user, no responses!'],
        bad('pageSize', '0'),
        bad('pageSize', '10001'),
        bad('after', 'garbage'),
        bad('since', 'yesterday'),
        [{ survey: `${survey} ?` }, 500, 'no_responses', none],
      ];
      for (const [query, status, code, message] of refused)
        expectError(await client.get(`${API}/responses`, { query }), status, code, message);
      const [query, ...error] = bad('interval', 'week');
      expectError(await client.get(`${API}/responses/digests`, { query }), ...error);
    },
  },
  {
    name: 'a page has 25 responses by default, with the fields in order',
    async run(subject) {
      const { name: survey, total } = await subject.survey.known();
      const page = await subject.page({ survey, until: subject.until });
      expectEqual('the length of the first page', page.length, Math.min(25, total));
      for (const row of page) expectRow(row);
    },
  },
  {
    name: 'paging returns every response once, in order, and then an empty page',
    async run({ pages }) {
      const { rows, pages: count, pageSize } = await pages.check();
      return `${rows} on ${count} pages of ${pageSize}`;
    },
  },
  {
    name: 'a full page links to the next',
    async run(subject) {
      const { name: survey, total } = await subject.survey.known();
      if (total < 2) throw new NotTested('the survey has a single response');
      const query = { survey, until: subject.until };
      const [, second] = await subject.page({ ...query, pageSize: 2 });
      const reply = await subject.client.get(`${API}/responses`, { query: { ...query, pageSize: 1 } });
      const link = reply.header('Link') ?? 'missing';
      const next = /^<https?:\/\/[^/>]+([^>]+)>; rel="next"$/.exec(link)?.[1];
      expectThat(next !== undefined, `${reply.request}: Link is ${quoted(link)}`);
      expectEqual('the page that is linked', jsonOf(await subject.client.get(next)), { responses: [second] });
    },
  },
  {
    name: 'the CSV file is complete',
    async run({ csv }) {
      const started = performance.now();
      const { rows, size } = await csv.check();
      return `${rows} records, ${speedOf(size, started)}`;
    },
  },
  {
    name: 'the CSV file and the pages have the same responses',
    async run({ csv, pages }) {
      expectEqual('digest of the pages', (await pages.known()).digest, (await csv.known()).digest);
    },
  },
  {
    name: 'with gzip, the CSV file has the same bytes',
    async run(subject) {
      const { sha256, size } = await subject.csv.known();
      const reply = await subject.file('csv', {}, { 'Accept-Encoding': 'gzip' });
      const encoding = reply.header('Content-Encoding');
      expectThat(
        encoding === 'gzip' || (encoding === undefined && size < MIN_COMPRESSED_BYTES),
        `${reply.request}: Content-Encoding is ${quoted(encoding ?? 'missing')}, not gzip`,
      );
      expectThat(
        listOf(reply, 'Vary').includes('accept-encoding'),
        `${reply.request}: Vary does not include Accept-Encoding`,
      );
      const hash = createHash('sha256');
      const before = subject.client.receivedBytes;
      const started = performance.now();
      let plain = 0;
      for await (const { length } of hashing(reply.body(), hash)) subject.progress(megabytes((plain += length)));
      const found = hash.digest('hex');
      expectThat(
        found === sha256,
        `${reply.request}: ${plain} bytes, SHA-256 ${found}, without gzip ${size} and ${sha256}`,
      );
      return speedOf(subject.client.receivedBytes - before, started);
    },
  },
  {
    name: 'a CSV download resumes after any record',
    async run(subject) {
      const { rest } = await subject.csv.known();
      if (rest.token === '') throw new NotTested('the survey has a single response');
      const reply = await subject.file('csv', { after: rest.token, count: 'true' });
      expectEqual(`${reply.request}: X-Total-Count`, Number(reply.header('X-Total-Count')), rest.rows);
      const digest = createHash('sha256');
      let rows = 0;
      for await (const cells of csvRecords(reply.body(), CSV_COLUMNS.length)) {
        addTexts(digest, cells);
        rows++;
      }
      expectEqual(`${reply.request}: records`, rows, rest.rows);
      expectEqual(`${reply.request}: digest`, digest.digest('hex'), rest.digest);
      return `the last ${rows}`;
    },
  },
  {
    name: 'the NDJSON file has the same responses, one object per line',
    async run(subject) {
      const reply = await subject.file('ndjson', { count: 'true' });
      expectEqual(
        `${reply.request}: Content-Type`,
        reply.header('Content-Type'),
        'application/x-ndjson; charset=utf-8',
      );
      const digest = createHash('sha256');
      const started = performance.now();
      let [rows, size] = [0, 0];
      const counting = (length: number) => subject.progress(`${rows} responses, ${megabytes((size += length))}`);
      for await (const line of linesOf(reply, hashing(reply.body(), createHash('sha256'), counting))) {
        addRow(digest, objectOf(reply, line));
        rows++;
      }
      await subject.expectTotal(reply.request, rows);
      expectEqual(`${reply.request}: digest`, digest.digest('hex'), (await subject.csv.known()).digest);
      return `${rows} lines, ${speedOf(size, started)}`;
    },
  },
  {
    name: 'the wide CSV file is complete',
    run: checkWide,
  },
  {
    name: 'the codebook has the choices that the text of each question lists',
    async run({ codebook }) {
      const questions = await codebook.check();
      return `${questions.filter(({ choices }) => choices !== null).length} of ${questions.length} questions`;
    },
  },
  {
    name: 'with labels, a wide CSV file has those of the choices in place of their letters',
    run: checkLabels,
  },
  {
    name: 'form-data has a record for every form version',
    async run({ formData }) {
      return `${(await formData.check()).forms} records`;
    },
  },
  {
    name: 'the summary counts the responses',
    async run(subject) {
      const { name: survey } = await subject.survey.known();
      const summary = await subject.json('/responses/summary', { survey, until: subject.until });
      const { responses } = summary as { responses: number };
      await subject.expectTotal(`GET ${API}/responses/summary`, responses);
      return `${responses} responses`;
    },
  },
  {
    name: 'the digests are those of the CSV file and the form data',
    run: checkDigests,
  },
  {
    name: 'ETag: 304 while a page, the digests or the list of surveys is the same',
    async run(subject) {
      const { name: survey } = await subject.survey.known();
      for (const [path, query] of [
        ['/surveys', {}],
        ['/responses', { survey, until: subject.until }],
        ['/responses/digests', { survey, until: subject.until }],
      ] as const) {
        const etag = (await subject.client.get(API + path, { query })).header('ETag');
        expectThat(etag !== undefined, `GET ${API}${path}: no ETag`);
        const revalidate = (tag: string) =>
          subject.client.get(API + path, { query, headers: { 'If-None-Match': tag } });
        const same = await revalidate(etag);
        expectEqual(`${same.request} with If-None-Match: status`, same.status, 304);
        expectEqual(`${same.request} with If-None-Match: body`, same.text, '');
        const other = await revalidate('W/"another"');
        expectEqual(`${other.request} with another If-None-Match: status`, other.status, 200);
      }
    },
  },
  {
    name: 'no response may be cached',
    run: ({ client }) =>
      everyOf(client.seen, (reply) => [
        ...differs(reply, 'Cache-Control', 'private, no-store'),
        ...(reply.header('Age') === undefined && !/HIT/i.test(reply.header('CF-Cache-Status') ?? '')
          ? []
          : ['it came from a cache']),
      ]),
  },
  {
    name: 'every response allows any origin (CORS) and exposes its headers',
    run: ({ client }) =>
      everyOf(client.seen, (reply) => [
        ...differs(reply, 'Access-Control-Allow-Origin', '*'),
        ...(isPreflight(reply)
          ? []
          : EXPOSED_HEADERS.filter(
              (name) => !listOf(reply, 'Access-Control-Expose-Headers').includes(name.toLowerCase()),
            ).map((name) => `Access-Control-Expose-Headers does not include ${name}`)),
      ]),
  },
  {
    name: 'every response has its own X-Request-Id',
    async run({ client }) {
      await everyOf(client.seen, (reply) => (reply.header('X-Request-Id') ? [] : ['X-Request-Id is missing']));
      const ids = new Set(client.seen.map((reply) => reply.header('X-Request-Id')));
      expectThat(
        ids.size === client.seen.length,
        `${client.seen.length} responses have ${ids.size} different X-Request-Ids`,
      );
      return undefined;
    },
  },
  {
    name: 'every response has Server-Timing, and nosniff',
    run: ({ client }) =>
      everyOf(client.seen, (reply) => [
        ...(/(?:^|, ?)total;dur=\d+(?:,|$)/.test(reply.header('Server-Timing') ?? '')
          ? []
          : [`Server-Timing is ${quoted(reply.header('Server-Timing') ?? 'missing')}`]),
        ...differs(reply, 'X-Content-Type-Options', 'nosniff'),
      ]),
  },
];

/** @throws Mismatch unless the response is an error of the documented form. @param message its beginning, or a pattern */
function expectError(reply: TextReply, status: number, code: string, message: string | RegExp): void {
  expectEqual(`${reply.request}: status`, reply.status, status);
  expectEqual(`${reply.request}: X-Error-Code`, reply.header('X-Error-Code'), code);
  const body = jsonOf(reply) as { error?: { message?: unknown } };
  const found = body.error?.message;
  expectEqual(`${reply.request}: body`, body, { error: { message: found } });
  expectThat(
    typeof found === 'string' && (typeof message === 'string' ? found.startsWith(message) : message.test(found)),
    `${reply.request}: the message is ${quoted(String(found))}`,
  );
}

async function* linesOf({ request }: Reply, chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void, void> {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + utf8.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  expectThat(rest === '', `${request}: the file ends within a line`);
}

function objectOf({ request }: Reply, line: string): Row {
  expectThat(!/[\u0085\u2028\u2029]/.test(line), `${request}: a line contains U+0085, U+2028 or U+2029`);
  try {
    return JSON.parse(line) as Row;
  } catch {
    throw new Mismatch(`${request}: a line is not JSON: ${quoted(line)}`);
  }
}

/** @throws Mismatch that lists the first responses with a problem */
async function everyOf(replies: readonly Reply[], problemsOf: (reply: Reply) => readonly string[]): Promise<string> {
  const problems = new Set<string>();
  for (const reply of replies)
    for (const problem of problemsOf(reply)) problems.add(`${reply.request} (${reply.status}): ${problem}`);
  const [...lines] = problems;
  const more = lines.length > 3 ? [`and ${lines.length - 3} more`] : [];
  if (lines.length > 0) throw new Mismatch([...lines.slice(0, 3), ...more].join('\n'));
  return `${replies.length} responses`;
}

function differs(reply: Reply, name: string, expected: string): string[] {
  const found = reply.header(name);
  return found === expected ? [] : [`${name} is ${quoted(found ?? 'missing')}, not ${quoted(expected)}`];
}

const isPreflight = ({ request }: Reply) => request.startsWith('OPTIONS ');

/** The values of a header that is a list, in lower case. */
function listOf(reply: Reply, name: string): string[] {
  return (reply.header(name) ?? '').toLowerCase().split(/\s*,\s*/);
}

function speedOf(bytes: number, started: number): string {
  const seconds = (performance.now() - started) / 1000;
  return `${megabytes(bytes)}, ${(bytes / 1e6 / seconds).toFixed(1)} MB/s`;
}
