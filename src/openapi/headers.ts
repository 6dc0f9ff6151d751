import type { HeaderObject, HeadersObject } from 'openapi3-ts/oas31';
import { RATE_LIMIT_POLICY, STATUS_BY_CODE } from '../http/errors.ts';

/**
 * The headers of responses, by name. Those with `required` are always present in the responses that
 * list them.
 */
export const headers = {
  'X-Request-Id': {
    description: 'Identifies this request. Include it when you report a problem.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: '6a0f8c1e-53c9-4ae3-9a4b-0f9c8a2f0f57',
  },
  'Server-Timing': {
    description:
      'Milliseconds until the response started: `auth` for checking the key, `db` for later database queries, and `total`.',
    required: true,
    schema: {
      type: 'string',
      pattern: String.raw`^(auth;dur=\d+, )?(db;dur=\d+, )?total;dur=\d+$`,
    },
    example: 'auth;dur=3, db;dur=21, total;dur=25',
  },
  'Timing-Allow-Origin': {
    description: 'Pages of any origin can read `Server-Timing`.',
    required: true,
    schema: { type: 'string', const: '*' },
  },
  'Cache-Control': {
    description: 'Responses must not be cached.',
    required: true,
    schema: { type: 'string', const: 'private, no-store' },
  },
  'X-Content-Type-Options': {
    description: 'Browsers must not guess a type other than `Content-Type`.',
    required: true,
    schema: { type: 'string', const: 'nosniff' },
  },
  'Content-Security-Policy': {
    description: 'A body shown in a browser can neither load nor run anything.',
    required: true,
    schema: { type: 'string' },
    example: "default-src 'none'; frame-ancestors 'none'",
  },
  'Access-Control-Allow-Origin': {
    description: 'Pages of any origin can send requests. The API uses no cookies.',
    required: true,
    schema: { type: 'string', const: '*' },
  },
  'Access-Control-Expose-Headers': {
    description: 'The headers that such pages can read.',
    required: true,
    schema: { type: 'string' },
    get example(): string {
      return EXPOSED_HEADERS.join(',');
    },
  },
  'Content-Disposition': {
    description: 'The file name, which contains the time of the request.',
    required: true,
    schema: { type: 'string', pattern: String.raw`^attachment; filename="[\w.-]+"$` },
    example: 'attachment; filename="responses_2026-03-01T09-30-00Z.csv"',
  },
  ETag: {
    description:
      'Identifies the content of the body. Send it as `If-None-Match` to check whether the content has changed.',
    schema: { type: 'string', pattern: '^W/"[0-9a-f]{32}"$' },
    example: 'W/"9f86d081884c7d659a2feaa0c55ad015"',
  },
  Vary: {
    description: 'Under `/api/v1`, bodies are compressed for clients that accept gzip.',
    schema: { type: 'string' },
    example: 'Accept-Encoding',
  },
  Link: {
    description: 'On a full page: the URL of the next page (RFC 8288).',
    schema: { type: 'string', pattern: '^<[^<>"]+>; rel="next"$' },
    example:
      '<https://export.example.org/api/v1/responses?survey=Food&pageSize=1&after=WzEsIjIw…>; rel="next"',
  },
  'X-Ignored-Parameters': {
    description:
      'Under `/api/v1`: the query parameters that the endpoint does not know and has ignored, percent-encoded and separated by commas.',
    schema: { type: 'string', pattern: "^[\\w.!~*'()%-]+(,[\\w.!~*'()%-]+)*$", maxLength: 2048 },
    example: 'pagesize,metadata',
  },
  'Preference-Applied': {
    description:
      'Under `/api/v1`, if the request has the header `Prefer: handling=strict`: unknown query parameters are errors.',
    schema: { type: 'string', const: 'handling=strict' },
  },
  'X-Total-Count': {
    description:
      'With `count=true`: the number of responses that pass the filters and, with `after`, follow the cursor (with `order=desc`, precede it).',
    schema: { type: 'integer', minimum: 0 },
    example: 4368,
  },
  'Retry-After': {
    description: 'The number of seconds to wait before you try again.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 5,
  },
  'RateLimit-Policy': {
    description:
      'Under `/api/v1`: how many requests (`q`) an account can send in how many seconds (`w`): draft-ietf-httpapi-ratelimit-headers.',
    schema: { type: 'string', pattern: String.raw`^"account";q=\d+;w=\d+$` },
    example: RATE_LIMIT_POLICY,
  },
  'X-Error-Code': {
    description: 'Tells errors apart, also those of one status. The values never change.',
    required: true,
    schema: { type: 'string', enum: Object.keys(STATUS_BY_CODE) },
    example: 'invalid_parameter',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 6750).',
    required: true,
    schema: { type: 'string', enum: ['Bearer', 'Bearer error="invalid_token"'] },
    example: 'Bearer error="invalid_token"',
  },
} satisfies Record<string, HeaderObject>;

export type HeaderName = keyof typeof headers;

/** Those that pages of other origins always can read, or need not. */
const NOT_EXPOSED =
  /^(?:Access-Control-.*|Cache-Control|Content-Security-Policy|Timing-Allow-Origin|Vary)$/;
/**
 * The others, and that of 405: https://fetch.spec.whatwg.org/#http-access-control-expose-headers
 */
export const EXPOSED_HEADERS: string[] = ['Allow', ...Object.keys(headers)]
  .filter((name) => !NOT_EXPOSED.test(name))
  .toSorted();

const EVERYWHERE = [
  'X-Request-Id',
  'Server-Timing',
  'Timing-Allow-Origin',
  'Cache-Control',
  'X-Content-Type-Options',
  'Content-Security-Policy',
  'Vary',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'X-Ignored-Parameters',
  'Preference-Applied',
  'RateLimit-Policy',
] as const;

/** A reference to a component of the document. */
export const reference = (
  kind: 'headers' | 'parameters' | 'responses' | 'schemas',
  name: string,
) => ({
  $ref: `#/components/${kind}/${name}`,
});

/** References to the headers of every response, and to others. */
export const withHeaders = (...names: HeaderName[]): HeadersObject =>
  Object.fromEntries([...names, ...EVERYWHERE].map((name) => [name, reference('headers', name)]));
