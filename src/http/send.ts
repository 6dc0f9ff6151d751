import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type Chunks, Output, concat, sha256Hex, utf8 } from '../encode/bytes.ts';
import type { EncodedRows } from '../encode/rows.ts';
import type { AppEnv } from './context.ts';
import { KINDS, type RequestSlots } from '../limits/slots.ts';
import { httpVersionNotSupported } from './errors.ts';
import { ifNoneMatchNames } from './etag.ts';
import { streamChunks } from './stream.ts';

type HeaderFields = Readonly<Record<string, string>>;

export const JSON_TYPE: HeaderFields = { 'Content-Type': 'application/json' };

/**
 * A larger body is streamed, so that its memory is counted until it has been sent. The runtime does
 * not report when it has sent a body that is not a stream.
 */
const MAX_UNNOTICED_BYTES = 64 * 1024;

/**
 * A complete body, in order. Parts are not joined, which would take the memory of a large body
 * twice.
 */
type BodyParts = string | readonly Uint8Array[];

/**
 * The text before and after the rows of pages. With an end, the rows are a list of JSON: a comma
 * precedes each, and that of the first is left out.
 */
export interface Frame {
  readonly start: string | Uint8Array;
  readonly end?: string;
}

/** The body of one page. */
export const bodyOf = ({ data }: EncodedRows, { start, end = '' }: Frame): BodyParts => [
  toBytes(start),
  data.subarray(end ? 1 : 0),
  toBytes(end),
];

/** The body of several pages, as chunks. */
export async function* chunksOf(pages: AsyncIterable<EncodedRows>, { start, end = '' }: Frame) {
  yield toBytes(start);
  let skipped = end ? 1 : 0;
  for await (const { data } of pages) {
    yield data.subarray(skipped);
    skipped = 0;
  }
  yield toBytes(end);
}

const toBytes = (text: string | Uint8Array) =>
  typeof text === 'string' ? utf8.encode(text) : text;

const partsOf = (body: BodyParts) => (typeof body === 'string' ? [toBytes(body)] : body);

/**
 * Sends a complete body, with its length. While a small one is sent, the request keeps no slot but
 * its own.
 */
export async function sendBody(
  c: Context<AppEnv>,
  body: BodyParts,
  headers = JSON_TYPE,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  // undefined without a key: those bodies are small, or shared
  const slots = c.var.slots as RequestSlots | undefined;
  const parts = partsOf(body);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const allHeaders = { ...headers, 'Content-Length': String(length) };
  const whole = length <= KINDS.request.bytes ? concat(...parts) : undefined;
  if (whole) slots?.releaseWork();
  if (slots && length > MAX_UNNOTICED_BYTES && c.req.method !== 'HEAD')
    return stream(c, whole ? [whole] : parts, allHeaders, { status, length });
  c.var.stats.bytes = length;
  return c.newResponse(whole ?? null, status, allHeaders);
}

/**
 * Sends a complete body of an account with its entity tag, or 304 without a body if the client
 * already has it.
 */
export async function sendTagged(
  c: Context<AppEnv>,
  body: BodyParts,
  headers = JSON_TYPE,
): Promise<Response> {
  const ETag = await etagOf(c.var.account.id, partsOf(body));
  const isUnchanged = ifNoneMatchNames(c.req.header('If-None-Match') ?? '', ETag);

  return isUnchanged ? c.body(null, 304, { ETag }) : sendBody(c, body, { ...headers, ETag });
}

/**
 * The entity tag of a body: 128 bits of a SHA-256. It is weak, since the body is also sent
 * compressed, and differs between accounts even for equal bodies.
 *
 * @param parts of the body, in order
 */
async function etagOf(accountId: string, parts: readonly Uint8Array[]): Promise<string> {
  const sha256 = new crypto.DigestStream('SHA-256');
  const writer = sha256.getWriter();
  for (const part of parts) await writer.write(part);
  await writer.close();

  const digest = await sha256Hex(`${accountId} ${new Uint8Array(await sha256.digest).toHex()}`);
  return `W/"${digest.slice(0, 32)}"`;
}

/**
 * Streams a body: see {@link streamChunks}. For HEAD, the body is not read.
 *
 * @throws ApiError 505 over HTTP/1.0, which Cloudflare reports in `cf`
 */
export async function sendStream(
  c: Context<AppEnv>,
  chunks: AsyncIterable<Uint8Array>,
  headers: HeaderFields,
): Promise<Response> {
  const { cf } = c.req.raw as Request<unknown, IncomingRequestCfProperties>;
  if (cf?.httpProtocol === 'HTTP/1.0') throw httpVersionNotSupported();
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);
  return stream(c, chunks, headers);
}

function stream(
  c: Context<AppEnv>,
  chunks: Chunks,
  headers: HeaderFields,
  { status = 200, length }: { status?: ContentfulStatusCode; length?: number } = {},
): Response {
  c.var.slots.hasBegun = true;
  const isFile = 'Content-Disposition' in headers;
  return c.body(streamChunks(chunks, c.var, { isFile, length }), status, headers);
}

/** The header `X-Total-Count`, if the number of responses is known. */
export const totalCount = (total: number | undefined): HeaderFields =>
  total === undefined ? {} : { 'X-Total-Count': String(total) };

/** Reads a body that fits in memory. A chunk may reuse the memory of the previous one. */
export async function readBody(chunks: AsyncIterable<Uint8Array>): Promise<BodyParts> {
  const output = new Output();

  for await (const chunk of chunks) {
    output.reserve(chunk.length);
    output.write(chunk);
  }
  return [output.written];
}
