import type { HeaderObject, HeadersObject } from 'openapi3-ts/oas31';
import { reference } from './reference.ts';

/** The headers of responses, by the names that responses refer to them with. `required` ones are never left out. */
export const headers = {
  'X-Request-Id': {
    description: 'Names this request. Please give it when you report a failure.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: '6a0f8c1e-53c9-4ae3-9a4b-0f9c8a2f0f57',
  },
  'Server-Timing': {
    description:
      'Milliseconds until the response began: `auth` for finding out whose key it is, `db` for what the database was asked then, `total`.',
    required: true,
    schema: { type: 'string', pattern: String.raw`^(auth;dur=\d+, )?(db;dur=\d+, )?total;dur=\d+$` },
    example: 'auth;dur=3, db;dur=21, total;dur=25',
  },
  'Timing-Allow-Origin': {
    description: 'Pages of any origin may see these times.',
    required: true,
    schema: { type: 'string', const: '*' },
  },
  'Cache-Control': {
    description: 'No cache may keep a response.',
    required: true,
    schema: { type: 'string', const: 'private, no-store' },
  },
  'X-Content-Type-Options': {
    description: 'What is in a body is what `Content-Type` says.',
    required: true,
    schema: { type: 'string', const: 'nosniff' },
  },
  'Content-Security-Policy': {
    description: 'A body that a browser shows may load and run nothing.',
    required: true,
    schema: { type: 'string' },
    example: "default-src 'none'; frame-ancestors 'none'",
  },
  'Access-Control-Allow-Origin': {
    description: 'Pages of any origin may ask: there are no cookies.',
    required: true,
    schema: { type: 'string', const: '*' },
  },
  'Access-Control-Expose-Headers': {
    description: 'What such pages may read.',
    required: true,
    schema: { type: 'string' },
    example: 'Content-Disposition,ETag,Retry-After,Server-Timing,X-Request-Id,X-Total-Count',
  },
  'Content-Disposition': {
    description: 'The name to save the file under, with the time of the request.',
    required: true,
    schema: { type: 'string', pattern: String.raw`^attachment; filename="[\w.-]+"$` },
    example: 'attachment; filename="responses_2026-03-01T09-30-00Z.csv"',
  },
  ETag: {
    description: 'Names what the body says. Send it back as `If-None-Match` to learn whether that has changed.',
    schema: { type: 'string', pattern: '^W/"[0-9a-f]{32}"$' },
    example: 'W/"9f86d081884c7d659a2feaa0c55ad015"',
  },
  Vary: {
    description: 'Below `/api/v1` a body is compressed for clients that accept gzip.',
    schema: { type: 'string' },
    example: 'Accept-Encoding',
  },
  'X-Total-Count': {
    description: 'How many responses there are in all, when `count` is `true`.',
    schema: { type: 'integer', minimum: 0 },
    example: 4368,
  },
  'Retry-After': {
    description: 'In how many seconds to try again.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 5,
  },
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 6750).',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
  },
  Allow: {
    description: 'The methods that the address answers.',
    required: true,
    schema: { type: 'string', const: 'GET, HEAD' },
  },
} satisfies Record<string, HeaderObject>;

export type HeaderName = keyof typeof headers;

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
] as const;

/** What every response has, and more. */
export const withHeaders = (...names: HeaderName[]): HeadersObject =>
  Object.fromEntries([...names, ...EVERYWHERE].map((name) => [name, reference('headers', name)]));
