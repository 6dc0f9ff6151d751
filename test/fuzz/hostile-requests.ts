import fc from 'fast-check';

/** A request as it goes over the wire; `KEY` in a header stands for a key that is valid. */
export interface HostileRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly headers: readonly string[];
  readonly body: string;
}

const PATHS = ['surveys', 'responses', 'responses/csv', 'responses/ndjson', 'responses/form-data'];
const path = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...PATHS.map((name) => `/api/v1/${name}`)) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...['/', '//', '/api/v1', '/api//v1//surveys', '/api/v1/../v1/surveys', '/api/v1/%2e%2e/surveys', '/%', '/%00'],
      ...[
        '/api%2fv1%2fsurveys',
        '/api/v1/responses%2fcsv',
        '/api/v1/surveys/',
        '/api/v1/%ff',
        '/health',
        '/openapi.json',
      ],
      ...[
        '*',
        'http://other.example/api/v1/surveys',
        'http://',
        'surveys',
        '/__proto__',
        '/docs/../x',
        '\\',
        '/;/a?b#c',
      ],
    ),
  },
);
const NAMES = [
  'survey',
  'after',
  'pageSize',
  'since',
  'until',
  'count',
  'layout',
  'bom',
  'safe',
  'userid',
  'shortcode',
];
const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...NAMES, 'question_ref') },
  fc.constantFrom('__proto__', 'constructor', 'toString', 'survey[]', 'survey%5B%5D', '%', '', 'x'.repeat(5000)),
);
const anyText = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed()));
const wrongJson = fc.oneof(
  fc.json({ maxDepth: 6 }),
  fc.tuple(fc.constantFrom(1, 2, '1'), fc.anything(), fc.anything(), fc.anything(), fc.anything()).map(safeJson),
  fc.constantFrom('['.repeat(3000), `[${'1,'.repeat(3000)}1]`, '[1,"2026-02-30T00:00:00Z","","",""]', '[1e999]'),
  fc.constantFrom('a,b,c', '0001-01-01 00:00:00+00,,', '9999-12-31T23:59:59.999999Z,\0,q', '0000-01-01T00:00:00Z,a,b'),
);
const time = fc
  .tuple(
    fc.integer({ min: 0, max: 10_000 }),
    fc.nat(13),
    fc.nat(32),
    fc.nat(25),
    fc.constantFrom('Z', '+24:00', '-23:59', ''),
  )
  .map(([y, m, d, h, zone]) => encodeURIComponent(`${two(y, 4)}-${two(m)}-${two(d)}T${two(h)}:00:00.0000009${zone}`));
const value = fc.oneof(
  fc.constantFrom(
    'fuzzed',
    'none',
    '',
    'true',
    'wide',
    '1',
    '0',
    '-1',
    '1e3',
    '10000',
    '10001',
    '99999999999999999999',
  ),
  fc.constantFrom('%', '%00', '%0d%0aX-Evil:%201', '%ff', '%ed%a0%80', '%c0%af', '%F4%90%80%80', '+', 'a%2', '%u0000'),
  fc.integer({ min: 1000, max: 40_000 }).map((length) => 'a'.repeat(length)),
  anyText,
  time,
  wrongJson.map((json) => Buffer.from(json).toString('base64url')),
);
const pair = fc.tuple(name, value).map(([key, text]) => `${key}=${text}`);
const query = fc.oneof(
  { weight: 8, arbitrary: fc.array(pair, { maxLength: 5 }).map((pairs) => ['survey=fuzzed', ...pairs]) },
  fc.array(pair, { maxLength: 5 }),
  pair.map((one) => Array.from({ length: 1000 }, () => (one.length > 60 ? 'userid=a' : one))),
);
const rubbish = fc.string({
  unit: fc.integer({ min: 32, max: 255 }).map((c) => String.fromCharCode(c)),
  maxLength: 60,
});
const header = fc.oneof(
  fc
    .tuple(fc.constantFrom('If-None-Match', 'Accept-Encoding', 'Range', 'Origin', 'Accept', 'Cookie', 'X-A'), rubbish)
    .map(([key, text]) => `${key}: ${text}`),
  fc.constantFrom(
    'If-None-Match: *',
    'Range: bytes=5-1',
    'Accept-Encoding: gzip;q=1, *;q=0',
    'Origin: null',
    'Expect: 1',
  ),
  fc.constantFrom(
    'Access-Control-Request-Method: DELETE',
   
    `X-Huge: ${'h'.repeat(20_000)}`,
    'no colon',
    ': x',
  ),
);
const authorization = fc.oneof(
  { weight: 8, arbitrary: fc.constant(['Authorization: Bearer KEY']) },
  fc.constantFrom([], ['Authorization: Bearer KEY', 'Authorization: Bearer KEY'], ['Authorization: Bearer MUTATED']),
  rubbish.map((text) => [`Authorization: Bearer ${text}`]),
);
const method = fc.oneof(
  { weight: 10, arbitrary: fc.constant('GET') },
  fc.constantFrom('HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'CONNECT', 'get', 'FOO', 'PRI', ''),
);
const body = fc.oneof(
  { weight: 8, arbitrary: fc.constant('') },
  fc.constantFrom('Content-Length: 3\r\n\r\nabc', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'),
);

/** A request that no client should send. */
export const hostileRequest: fc.Arbitrary<HostileRequest> = fc
  .tuple(
    method,
    path,
    query,
    fc.constantFrom('1.1', '1.1', '1.1', '1.0'),
    authorization,
    fc.array(header, { maxLength: 4 }),
    body,
  )
  .map(([verb, place, pairs, version, auth, more, text]) => ({
    method: verb,
    target: pairs.length > 0 ? `${place}?${pairs.join('&')}` : place,
    version,
    headers: [...auth, ...more],
    body: text,
  }));

/** Its bytes. @param key takes the place of `KEY` */
export function bytesOf({ method: verb, target, version, headers, body: text }: HostileRequest, key: string): Buffer {
  const mutated = key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
  const lines = [`${verb} ${target} HTTP/${version}`, 'Host: localhost', 'Connection: close', ...headers];
  const head = lines.join('\r\n').replaceAll('KEY', key).replaceAll('MUTATED', mutated);
  return Buffer.from(`${head}\r\n${text === '' ? '\r\n' : text}`, 'latin1');
}

function two(number: number, digits = 2): string {
  return String(number).padStart(digits, '0');
}

function safeJson(parts: unknown): string {
  try {
    return JSON.stringify(parts) ?? '';
  } catch {
    return '[1]'; // bigints, and objects whose toJSON is none
  }
}
