import { type Random, below, pick } from '../../support/random.ts';
import type { RawRequest } from '../../support/raw-http.ts';
import { hostileValue } from './hostile-value.ts';

const CURSOR = Buffer.from('2026-03-01T00:00:00Z,,').toString('base64url');
/** Parameters with valid values, so that a request can be wrong in one only. */
const VALID = [
  ...['survey=fuzzed', 'pageSize=2', 'count=true', 'since=2026-03-01', 'until=2027-01-01T00:00:00Z', 'userid=user'],
  ...['shortcode=f0', 'question_ref=q0', 'layout=wide', 'bom=true', 'safe=true', 'format=csv', 'columns=question'],
  ...['order=desc', 'timezone=Africa/Nairobi', 'interval=hour', 'metadata=ad_id', 'repeats=first', 'value=translated'],
  ...['require_metadata=ad_id', `after=${CURSOR}`],
];
const NAMES = VALID.map((pair) => pair.replace(/=.*/, ''));
const RESPONSES = [
  ...['responses', 'responses/csv', 'responses/ndjson', 'responses/xlsx', 'responses/form-data', 'responses/questions'],
  ...['responses/summary', 'responses/digests'],
];
const ENDPOINTS = [...RESPONSES, 'surveys', 'key'];

const PATHS = [
  ...['/', '//', '/api/v1', '/api//v1//surveys', '/api/v1/surveys/', '/api/v1/../v1/surveys', '/%2e%2e/api/v1/surveys'],
  ...['/api%2fv1%2fsurveys', '/api/v1/responses%2fcsv', '/api/v1%2fresponses', '/api/v1/%00', '/api/v1/%ff', '/%'],
  ...['/%0d%0a', '/healthz', '/openapi.json', '/docs', '/docs/..%2fx', '/docs/%00', '/__proto__', '/constructor'],
  ...['/;/a:b', '/:path', '*', '\\', 'surveys', '', 'http://', 'http://other.example/api/v1/surveys'],
  `/${'x/'.repeat(9000)}`,
];
const UNKNOWN_NAMES = [
  ...['__proto__', 'constructor', 'toString', 'survey[]', 'survey%5B%5D', 'Survey', '%', '%00', '', 'x'.repeat(5000)],
];
const ODD_QUERIES = ['&&&=', 'survey', '=fuzzed', 'survey=fuzzed;pageSize=1', '#survey=fuzzed'];

const HEADER_NAMES = [
  ...['Accept', 'Accept-Encoding', 'Access-Control-Request-Headers', 'CF-Connecting-IP', 'Content-Type', 'Cookie'],
  ...['If-None-Match', 'Origin', 'Prefer', 'Range', 'Upgrade', 'X-A', 'X-Forwarded-For', 'X-Request-Id'],
];
const HEADERS = [
  ...['If-None-Match: *', 'If-None-Match: W/"', `If-None-Match: ${'"a",'.repeat(3000)}`, 'Range: bytes=5-1'],
  ...['Accept-Encoding: gzip', 'Accept-Encoding: gzip;q=1e9, *;q=', 'Accept-Encoding: br;;,,', 'Origin: null'],
  ...['Content-Length: 0', 'Upgrade: websocket', 'CF-Connecting-IP: :::::'],
  ...['Access-Control-Request-Method: DELETE', 'Connection: Authorization', 'X-HTTP-Method-Override: DELETE'],
  ...['Expect: 100-continue', `X-Huge: ${'h'.repeat(20_000)}`, 'Prefer: handling=strict'],
];
/** Refused by workerd. */
const REFUSED_HEADERS = [
  ...['no colon', ': x', 'Bad Name: x', ' folded', 'X-Nul: \0', 'Content-Length: 1, 2', 'Transfer-Encoding: gzip'],
];
const VALID_KEY = ['Authorization: Bearer KEY'];
const AUTHORIZATIONS = [
  ...[[], [...VALID_KEY, ...VALID_KEY], ['Authorization: Bearer OTHER'], ['Authorization: bearer  KEY ']],
  ...[['Authorization: Basic KEY'], ['Authorization: Bearer KEY,KEY']],
];
/** Without CONNECT, which workerd refuses for a Worker without `connect()`. */
const METHODS = ['HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'get', 'FOO', 'PRI', ''];
const BODIES = ['Content-Length: 3\r\n\r\nabc', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'];

const noise = (random: Random) =>
  String.fromCharCode(...Array.from({ length: below(random, 60) }, () => 0x20 + below(random, 0xe0)));
const several = <T>(random: Random, most: number, one: () => T): T[] =>
  Array.from({ length: below(random, most + 1) }, one);
/** One of several ways; the first in 12 of 12 + n cases. */
const mostly = <T>(random: Random, usual: () => T, ...others: (() => T)[]): T =>
  (random() < 12 / (12 + others.length) ? usual : pick(random, others))();

function header(random: Random): string {
  const common = () => pick(random, [`${pick(random, HEADER_NAMES)}: ${noise(random)}`, pick(random, HEADERS)]);
  return random() < 0.96 ? common() : pick(random, REFUSED_HEADERS);
}

/** Parameters, of which any may be wrong. */
function pairs(random: Random): string[] {
  const hostile = () => {
    const name = random() < 0.9 ? pick(random, NAMES) : pick(random, UNKNOWN_NAMES);
    return `${name}=${hostileValue(random, name)}`;
  };
  const survey = () => `survey=${random() < 0.8 ? 'fuzzed' : hostileValue(random)}`;
  const repeated = (name: string) => Array.from({ length: 1000 }, (_, i) => `${name}=${i}`);
  return mostly(
    random,
    () => [survey(), ...several(random, 2, hostile), ...several(random, 3, () => pick(random, VALID))],
    () => several(random, 4, hostile),
    () => ['survey=fuzzed', ...repeated(pick(random, NAMES))],
    () => [pick(random, ODD_QUERIES)],
  );
}

/** Only one parameter is wrong, often `after`, which is the most complex. */
function nearlyValid(random: Random): string[] {
  const wrong = random() < 0.33 ? 'after' : pick(random, NAMES);
  const valid = new Set(['survey=fuzzed', ...several(random, 3, () => pick(random, VALID))]);
  return [...valid].filter((pair) => !pair.startsWith(`${wrong}=`)).concat(`${wrong}=${hostileValue(random, wrong)}`);
}

/** A request of which any part may be wrong, or only one parameter. */
export function hostileRequest(random: Random): RawRequest {
  if (random() < 0.5) {
    const target = `/api/v1/${pick(random, RESPONSES)}?${nearlyValid(random).join('&')}`;
    return { method: 'GET', target, version: '1.1', headers: VALID_KEY, body: '' };
  }
  const path = mostly(
    random,
    () => `/api/v1/${pick(random, ENDPOINTS)}`,
    () => pick(random, PATHS),
    () => `/api/v1/responses/${hostileValue(random)}`,
  );
  const query = pairs(random);
  const key = mostly(
    random,
    () => VALID_KEY,
    () => pick(random, AUTHORIZATIONS),
    () => [`Authorization: Bearer ${noise(random)}`],
  );
  return {
    method: random() < 0.92 ? 'GET' : pick(random, METHODS),
    target: query.length > 0 ? `${path}?${query.join('&')}` : path,
    version: random() < 0.97 ? '1.1' : pick(random, ['1.0', '0.9', '2.0', 'x']),
    headers: [...key, ...several(random, 3, () => header(random))],
    body: random() < 0.9 ? '' : pick(random, BODIES),
  };
}
