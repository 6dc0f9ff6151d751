import { type Random, below, pick } from '../../support/random.ts';
import type { RawRequest } from '../../support/raw-http.ts';
import { SURVEYID, hostileValue } from './hostile-value.ts';
import { NAMES, valuesOf } from './parameters.ts';
import { PATHS, addressOf } from './request.ts';

/** A response that parameters can name. */
const ROW = { at: 0, userid: 'user', question_ref: 'q0', shortcode: 'f0', surveyid: SURVEYID };
const UNKNOWN_NAMES = ['__proto__', 'survey%5B%5D', 'Survey', '%', '', 'x'.repeat(5000)];
const ODD_QUERIES = ['&&&=', 'survey', '=fuzzed', 'survey=fuzzed;pageSize=1', '#survey=fuzzed', ''];
/** Besides those of api/errors.test.ts and api/headers.test.ts. */
const ODD_PATHS = [
  '/api/v1/../v1/surveys',
  '/%2e%2e/api/v1/surveys',
  '/api%2fv1%2fsurveys',
  '/api/v1%2fresponses',
  '/api/v1/%00',
  '/api/v1/%ff',
  '/%',
  '/%0d%0a',
  '/docs/..%2fx',
  '/docs/%00',
  '/__proto__',
  '/;/a:b',
  '/:path',
  '*',
  '\\',
  'surveys',
  '',
  'http://',
  'http://other.example/api/v1/surveys',
  `/${'x/'.repeat(9000)}`,
];

const HEADER_NAMES = [
  'Accept',
  'Accept-Encoding',
  'Access-Control-Request-Headers',
  'CF-Connecting-IP',
  'Content-Type',
  'Cookie',
  'If-None-Match',
  'Origin',
  'Prefer',
  'Range',
  'X-A',
  'X-Forwarded-For',
  'X-Request-Id',
];
const HEADERS = [
  'If-None-Match: W/"',
  `If-None-Match: ${'"a",'.repeat(3000)}`,
  'Range: bytes=5-1',
  'Accept-Encoding: gzip;q=1e9, *;q=',
  'Origin: null',
  'CF-Connecting-IP: :::::',
  'Access-Control-Request-Method: DELETE',
  'X-HTTP-Method-Override: DELETE',
  `X-Huge: ${'h'.repeat(20_000)}`,
  'Prefer: handling=strict',
];
const VALID_KEY = 'Authorization: Bearer KEY';
const KEYS = [
  '',
  ...['KEY', ':', '\xff:\xfe', `a:${'b'.repeat(5000)}`].map(
    (user) => `Authorization: Basic ${btoa(user)}`,
  ),
  'Authorization: Bearer OTHER',
];

const noise = (random: Random) =>
  String.fromCharCode(
    ...Array.from({ length: below(random, 60) }, () => 0x20 + below(random, 0xe0)),
  );

/** Parameters of which one is wrong, often `after`, which is the most complex. */
function nearlyValid(random: Random): string {
  const wrong = random() < 0.33 ? 'after' : pick(random, [...NAMES, 'layout']);
  const names = Array.from({ length: below(random, 4) }, () => pick(random, NAMES));
  const values = valuesOf(random, names, () => ROW);
  const layout = pick(random, ['long', 'wide'] as const);
  const parameters = { survey: 'fuzzed', layout, ...values, [wrong]: undefined };
  const valid = addressOf({ path: '/responses', parameters }).replace('/responses?', '');
  return `${valid}&${wrong}=${hostileValue(random, wrong)}`;
}

function oddQuery(random: Random): string {
  const name = pick(random, NAMES);
  const repeated = Array.from({ length: 1000 }, (_, i) => `&${name}=${i}`).join('');
  const unknown = `&${pick(random, UNKNOWN_NAMES)}=${hostileValue(random)}`;
  return pick(random, [
    `survey=fuzzed${pick(random, [repeated, unknown])}`,
    pick(random, ODD_QUERIES),
  ]);
}

/** A request in which one parameter is wrong; in half of the cases, any other part may be, too. */
export function hostileRequest(random: Random): RawRequest {
  const share = pick(random, [0, 0.1]);
  /** The usual part, or one of several others. */
  const mostly = (usual: string, ...others: string[]) =>
    random() < share ? pick(random, others) : usual;
  const header = () =>
    pick(random, [`${pick(random, HEADER_NAMES)}: ${noise(random)}`, pick(random, HEADERS)]);
  const endpoint = `/api/v1${pick(random, PATHS)}`;
  const path = mostly(
    endpoint,
    pick(random, ODD_PATHS),
    `/api/v1/responses/${hostileValue(random)}`,
  );
  const key = mostly(VALID_KEY, pick(random, KEYS), `Authorization: Bearer ${noise(random)}`);
  const headers = Array.from({ length: share > 0 ? below(random, 4) : 0 }, header);
  return {
    method: mostly('GET', 'HEAD', 'OPTIONS', 'POST'),
    target: `${path}?${mostly(nearlyValid(random), oddQuery(random))}`,
    headers: key === '' ? headers : [key, ...headers],
  };
}
