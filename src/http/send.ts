import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { Output, concat, free } from '../encode/bytes.ts';
import { hexOf, sha256Hex } from '../encode/sha256.ts';
import type { HeldPage } from '../db/client.ts';
import type { EncodedRows } from '../encode/rows.ts';
import type { AppEnv } from './context.ts';
import { type RequestLease, STREAM_BYTES, memory } from '../limits/limits.ts';
import { httpVersionNotSupported } from './errors.ts';
import { ifNoneMatchNames } from './etag.ts';
import { detailsOf, logFailure, reasonOf } from './log.ts';
import type { TransferEnd } from './request-stats.ts';
import { PAGE_PACE, streamChunks } from './stream.ts';

type Headers = Readonly<Record<string, string>>;

const utf8 = new TextEncoder();

/** In bytes. The runtime does not report when it has sent a whole body. A larger one is streamed, so that its memory is counted until then. */
const MAX_UNNOTICED_BYTES = 64 * 1024;

/** A complete body. */
export interface Body {
  /** Its bytes, in order. A large body is not joined, which would take its memory twice. */
  readonly parts: readonly Uint8Array[];
  /** Frees its memory. */
  readonly release?: () => void;
}

/** The body that a page makes between a start and an end. */
export function bodyOf({ data, release }: HeldPage, start: string | Uint8Array, end = ''): Body {
  const parts = [toBytes(start), data, toBytes(end)];
  if (data.length > MAX_UNNOTICED_BYTES) return { parts, release };
  const joined = concat(...parts);
  release();
  return { parts: [joined] };
}

/** Likewise, of a page of objects that each follow a comma: the first comma is dropped. */
export const jsonBodyOf = ({ data, ...page }: HeldPage, start: string, end: string): Body =>
  bodyOf({ ...page, data: data.subarray(','.length) }, start, end);

/** Likewise, of several pages. */
export async function* jsonChunksOf(
  pages: AsyncIterable<EncodedRows>,
  start: string,
  end: string,
): AsyncGenerator<Uint8Array, void, void> {
  yield utf8.encode(start);
  let commas = 1;
  for await (const { data } of pages) {
    yield data.subarray(commas);
    commas = 0;
  }
  yield utf8.encode(end);
}

const toBody = (body: string | Body): Body => (typeof body === 'string' ? { parts: [utf8.encode(body)] } : body);

const toBytes = (text: string | Uint8Array) => (typeof text === 'string' ? utf8.encode(text) : text);

/**
 * Sends a complete body, with its length.
 *
 * @throws LimitError if there is no memory to send a large body
 */
export async function sendBody(
  c: Context<AppEnv>,
  body: string | Body,
  headers: Headers,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  const lease = c.var.lease as RequestLease | undefined; // undefined without a key: those bodies are small, or shared
  const { parts, release } = toBody(body);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const allHeaders = { ...headers, 'Content-Length': String(length) };
  const isHead = c.req.method === 'HEAD';
  if (lease && length > MAX_UNNOTICED_BYTES && !isHead) {
    const { signal } = c.var;
    if (typeof body === 'string') await lease.acquire(memory, length, signal);
    await lease.stream.acquire(STREAM_BYTES, signal);
    return stream(c, sentParts(parts, release), allHeaders, { status, length });
  }
  c.var.stats.bytes = length;
  const bytes = isHead ? null : concat(...parts);
  release?.();
  return c.newResponse(bytes, status, allHeaders);
}

/** Frees a body when it has been sent. Not when the transfer is aborted: a write may still read from it. */
function* sentParts(parts: Body['parts'], release: Body['release']): Generator<Uint8Array, void, void> {
  yield* parts;
  release?.();
}

/** Sends a complete body of an account with its entity tag, or 304 without a body if the client already has it. */
export async function sendTagged(c: Context<AppEnv>, body: string | Body, headers: Headers): Promise<Response> {
  const { parts, release } = toBody(body);
  const etag = await etagOf(c.var.account.id, parts);
  if (!ifNoneMatchNames(c.req.header('If-None-Match'), etag)) return sendBody(c, body, { ...headers, ETag: etag });
  release?.();
  return c.body(null, 304, { ETag: etag });
}

/**
 * The entity tag of a body: 128 bits of a SHA-256. It is weak, since the body is also sent compressed, and differs between
 * accounts even for equal bodies.
 *
 * @param parts of the body, in order
 */
async function etagOf(accountId: string, parts: readonly Uint8Array[]): Promise<string> {
  const digest = await sha256Hex(`${accountId} ${hexOf(await digestOf(parts))}`);
  return `W/"${digest.slice(0, 32)}"`;
}

/** The SHA-256 of a body. A small one, whose parts are joined, is hashed in one call: a stream takes several. */
async function digestOf(parts: Body['parts']): Promise<ArrayBuffer> {
  const [only] = parts;
  if (only && parts.length === 1) return crypto.subtle.digest('SHA-256', only);
  const sha256 = new crypto.DigestStream('SHA-256');
  const writer = sha256.getWriter();
  for (const part of parts) await writer.write(part);
  await writer.close();
  return sha256.digest;
}

/**
 * Streams a body: see {@link streamChunks}. An error that aborts the transfer is logged, since the client sees only the aborted
 * transfer. For HEAD, the body is not read.
 *
 * @throws ApiError 505 over HTTP/1.0, which Cloudflare reports in `cf`
 */
export async function sendStream(
  c: Context<AppEnv>,
  chunks: AsyncIterable<Uint8Array>,
  headers: Headers,
): Promise<Response> {
  const { cf } = c.req.raw as Request<unknown, IncomingRequestCfProperties>;
  if (cf?.httpProtocol === 'HTTP/1.0') throw httpVersionNotSupported();
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);
  await c.var.lease.stream.acquire(STREAM_BYTES, c.var.signal);
  return stream(c, chunks, headers);
}

function stream(
  c: Context<AppEnv>,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  headers: Headers,
  { status = 200, length }: { status?: ContentfulStatusCode; length?: number } = {},
): Response {
  const { checkKey, lease, requestAbort, requestId, signal, stats } = c.var;
  lease.hasBegun = true;
  const end = Promise.withResolvers<TransferEnd>();
  stats.transfer = end.promise;
  const body = streamChunks(chunks, requestAbort, {
    length,
    pace: 'Content-Disposition' in headers ? undefined : PAGE_PACE, // files have a name
    sent: (bytes) => (stats.bytes += bytes),
    checkKey,
    ended: (how, error) => {
      if (how === 'complete') end.resolve({ end: how });
      else if (how === 'left' || (how === 'failed' && signal.aborted)) end.resolve({ end: 'client left' });
      else {
        end.resolve({ end: 'failed', reason: reasonOf(error) });
        logFailure('export failed', { requestId, ...detailsOf(error) });
      }
    },
  });
  return c.body(body, status, headers);
}

/** The header `X-Total-Count`, if the number of responses is known. */
export const totalCount = (total: number | undefined): Headers =>
  total === undefined ? {} : { 'X-Total-Count': String(total) };

/** Reads a body that fits in memory. A chunk may reuse the memory of the previous one. */
export async function readBody(c: Context<AppEnv>, chunks: AsyncIterable<Uint8Array>): Promise<Body> {
  const { lease, signal } = c.var;
  const reservation = lease.reserve(memory);
  const output = new Output();
  for await (const chunk of chunks) {
    await reservation.acquire(output.capacityFor(chunk.length), signal);
    output.reserve(chunk.length);
    output.write(chunk);
  }
  const release = () => {
    free(output.bytes);
    reservation.release();
  };
  return { parts: [output.written], release };
}
