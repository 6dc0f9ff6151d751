import fc from 'fast-check';
import { hostileValue } from './hostile-values.ts';

/** A raw request. In its headers, `KEY` stands for a valid key and `OTHER` for one with a wrong character. */
export interface HostileRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Valid values, so that a request can be wrong in one parameter only. */
const VALID = {
  survey: 'fuzzed',
  after: Buffer.from('2026-03-01T00:00:00Z,,').toString('base64url'),
  pageSize: '2',
  count: 'true',
  since: '2026-03-01',
  until: '2027-01-01T00:00:00Z',
  userid: 'user',
  shortcode: 'f0',
  question_ref: 'q0',
  layout: 'wide',
  bom: 'true',
  safe: 'true',
  format: 'csv',
  columns: 'question',
  order: 'desc',
  timezone: 'Africa/Nairobi',
};
const ENDPOINTS = [
  'surveys',
  'responses',
  'responses/csv',
  'responses/ndjson',
  'responses/form-data',
  'responses/questions',
  'responses/summary',
  'key',
];

const path = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...ENDPOINTS.map((name) => `/api/v1/${name}`)) },
  fc.constantFrom(
    ...[
      '/',
      '//',
      '/api/v1',
      '/api//v1//surveys',
      '/api/v1/surveys/',
      '/api/v1/../v1/surveys',
      '/%2e%2e/api/v1/surveys',
    ],
    ...[
      '/api%2fv1%2fsurveys',
      '/api/v1/responses%2fcsv',
      '/api/v1%2fresponses',
      '/api/v1/%00',
      '/api/v1/%ff',
      '/%',
      '/%0d%0a',
    ],
    ...[
      '/healthz',
      '/openapi.json',
      '/docs',
      '/docs/..%2fx',
      '/docs/%00',
      '/__proto__',
      '/constructor',
      '/;/a:b',
      '/:path',
    ],
    ...['*', '\\', 'surveys', '', 'http://', 'http://other.example/api/v1/surveys', `/${'x/'.repeat(9000)}`],
  ),
  hostileValue().map((value) => `/api/v1/responses/${value}`),
);

const knownName = fc.constantFrom(...(Object.keys(VALID) as (keyof typeof VALID)[]));
const unknownName = fc.constantFrom(
  ...['__proto__', 'constructor', 'toString', 'survey[]', 'survey%5B%5D', 'Survey', '%', '%00', '', 'x'.repeat(5000)],
);
const validPair = knownName.map((name) => `${name}=${VALID[name]}`);
const hostilePair = fc
  .oneof({ weight: 8, arbitrary: knownName }, unknownName)
  .chain((name) => hostileValue(name).map((value) => `${name}=${value}`));
const survey = fc.oneof(
  { weight: 4, arbitrary: fc.constant('survey=fuzzed') },
  hostileValue().map((value) => `survey=${value}`),
);
const pairs = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(survey, fc.array(hostilePair, { maxLength: 2 }), fc.array(validPair, { maxLength: 3 }))
      .map((parts) => parts.flat()),
  },
  { weight: 3, arbitrary: fc.array(hostilePair, { maxLength: 4 }) },
  knownName.map((name) => Array.from({ length: 1000 }, (_, i) => (i === 0 ? 'survey=fuzzed' : `${name}=${i}`))),
  fc.constantFrom(['&&&='], ['survey'], ['=fuzzed'], ['survey=fuzzed;pageSize=1'], ['#survey=fuzzed']),
);

const HEADER_NAMES = [
  ...['Accept', 'Accept-Encoding', 'Access-Control-Request-Headers', 'CF-Connecting-IP', 'Content-Type', 'Cookie'],
  ...['If-None-Match', 'Origin', 'Range', 'Upgrade', 'X-A', 'X-Forwarded-For', 'X-Request-Id'],
];
const noise = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
  maxLength: 60,
});
const header = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.tuple(fc.constantFrom(...HEADER_NAMES), noise).map(([name, text]) => `${name}: ${text}`),
  },
  {
    weight: 12,
    arbitrary: fc.constantFrom(
      ...['If-None-Match: *', 'If-None-Match: W/"', `If-None-Match: ${'"a",'.repeat(3000)}`, 'Range: bytes=5-1'],
      ...['Accept-Encoding: gzip', 'Accept-Encoding: gzip;q=1e9, *;q=', 'Accept-Encoding: br;;,,', 'Origin: null'],
      ...['Host: evil', 'Host: a b', 'Content-Length: 0', 'Upgrade: websocket', 'CF-Connecting-IP: :::::'],
      ...['Access-Control-Request-Method: DELETE', 'Connection: Authorization', 'X-HTTP-Method-Override: DELETE'],
      ...['Expect: 100-continue', `X-Huge: ${'h'.repeat(20_000)}`],
    ),
  },
  // Refused by workerd.
  fc.constantFrom(
    ...['no colon', ': x', 'Bad Name: x', ' folded', 'X-Nul: \0', 'Content-Length: 1, 2', 'Transfer-Encoding: gzip'],
  ),
);
const authorization: fc.Arbitrary<readonly string[]> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(['Authorization: Bearer KEY']) },
  fc.constantFrom(
    ...[[], ['Authorization: Bearer KEY', 'Authorization: Bearer KEY'], ['Authorization: Bearer OTHER']],
    ...[['Authorization: bearer  KEY '], ['Authorization: Basic KEY'], ['Authorization: Bearer KEY,KEY']],
  ),
  noise.map((text) => [`Authorization: Bearer ${text}`]),
);
/** Without CONNECT, which workerd refuses for a Worker without `connect()`. */
const method = fc.oneof(
  { weight: 12, arbitrary: fc.constant('GET') },
  fc.constantFrom('HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'get', 'FOO', 'PRI', ''),
);
const body = fc.oneof(
  { weight: 10, arbitrary: fc.constant('') },
  fc.constantFrom('Content-Length: 3\r\n\r\nabc', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'),
);

/** Any part may be wrong. */
const anyRequest: fc.Arbitrary<HostileRequest> = fc
  .record({
    method,
    path,
    pairs,
    version: fc.oneof({ weight: 30, arbitrary: fc.constant('1.1') }, fc.constantFrom('1.0', '0.9', '2.0', 'x')),
    authorization,
    more: fc.array(header, { maxLength: 3 }),
    body,
  })
  .map(({ path: pathname, pairs: parameters, authorization: key, more, method: verb, version, body: text }) => ({
    method: verb,
    target: parameters.length > 0 ? `${pathname}?${parameters.join('&')}` : pathname,
    version,
    headers: key.concat(more),
    body: text,
  }));

/** Only one parameter is wrong, often `after`, which is the most complex. */
const nearlyValid: fc.Arbitrary<HostileRequest> = fc
  .tuple(
    fc.constantFrom(...ENDPOINTS.slice(1)),
    fc.oneof({ weight: 2, arbitrary: knownName }, fc.constant('after' as const)),
    fc.uniqueArray(knownName, { maxLength: 3 }),
  )
  .chain(([endpoint, wrong, others]) =>
    hostileValue(wrong).map((value) => {
      const given = {
        survey: VALID.survey,
        ...Object.fromEntries(others.map((name) => [name, VALID[name]])),
        [wrong]: value,
      };
      const parameters = Object.entries(given).map((pair) => pair.join('='));
      const target = `/api/v1/${endpoint}?${parameters.join('&')}`;
      return { method: 'GET', target, version: '1.1', headers: ['Authorization: Bearer KEY'], body: '' };
    }),
  );

export const hostileRequest: fc.Arbitrary<HostileRequest> = fc.oneof(anyRequest, nearlyValid);

/** The bytes of a request. @param key replaces `KEY`; with one character changed, it replaces `OTHER` */
export function bytesOf(request: HostileRequest, key: string): Buffer {
  const { target, version, headers, body: text } = request;
  const other = key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
  const filled = headers.map((line) => line.replaceAll('KEY', key).replaceAll('OTHER', other));
  const lines = [`${request.method} ${target} HTTP/${version}`, 'Host: localhost', 'Connection: close', ...filled];
  return Buffer.from(`${lines.join('\r\n')}\r\n${text === '' ? '\r\n' : text}`, 'latin1');
}
