import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { Output } from '../encode/bytes.ts';
import type { AppEnv } from './context.ts';
import { type RequestLease, STREAM_BYTES } from '../limits/limits.ts';
import { StalledClientError, httpVersionNotSupported } from './errors.ts';
import { etagOf, ifNoneMatchNames } from './etag.ts';
import { detailsOf, logFailure, reasonOf } from './log.ts';
import type { TransferEnd } from './request-stats.ts';
import { PAGE_PACE, streamChunks } from './stream.ts';

type Headers = Readonly<Record<string, string>>;

const utf8 = new TextEncoder();

/** In bytes. The runtime does not report when it has sent a whole body. A larger one is streamed, so that its memory is counted until then. */
const MAX_UNNOTICED_BYTES = 64 * 1024;

/**
 * Sends a complete body, with its length.
 *
 * @throws ApiError 429 or 503 if there is no memory to send a large body
 */
export async function sendBody(
  c: Context<AppEnv>,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Headers,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  const bytes = (typeof body === 'string' ? utf8.encode(body) : body) as Uint8Array<ArrayBuffer>;
  const allHeaders = { ...headers, 'Content-Length': String(bytes.length) };
  const lease = c.var.lease as RequestLease | undefined; // undefined without a key: those bodies are small, or shared
  if (lease && bytes.length > MAX_UNNOTICED_BYTES && c.req.method !== 'HEAD') {
    lease.body.setAnyway(bytes.length); // it is there
    await lease.body.wait(bytes.length + STREAM_BYTES, c.var.signal);
    return stream(c, [bytes], allHeaders, { status, length: bytes.length });
  }
  c.var.stats.bytes = bytes.length;
  return c.body(bytes, status, allHeaders);
}

/** Sends a complete body of an account with its entity tag, or 304 without a body if the client already has it. */
export async function sendTagged(
  c: Context<AppEnv>,
  body: Uint8Array<ArrayBuffer>,
  headers: Headers,
): Promise<Response> {
  const etag = await etagOf(c.var.account.id, body);
  if (ifNoneMatchNames(c.req.header('If-None-Match'), etag)) return c.body(null, 304, { ETag: etag });
  return sendBody(c, body, { ...headers, ETag: etag });
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
  await c.var.lease.body.wait(STREAM_BYTES, c.var.signal);
  return stream(c, chunks, headers);
}

function stream(
  c: Context<AppEnv>,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  headers: Headers,
  { status = 200, length }: { status?: ContentfulStatusCode; length?: number } = {},
): Response {
  const { requestAbort, requestId, signal, stats } = c.var;
  const end = Promise.withResolvers<TransferEnd>();
  stats.transfer = end.promise;
  const body = streamChunks(chunks, requestAbort, {
    length,
    pace: 'Content-Disposition' in headers ? undefined : PAGE_PACE, // files have a name
    sent: (bytes) => (stats.bytes += bytes),
    ended: (how, error) => {
      if (how === 'complete') end.resolve({ end: how });
      else if (how === 'left' || (signal.aborted && !(error instanceof StalledClientError)))
        end.resolve({ end: 'client left' });
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
export async function readBody(
  c: Context<AppEnv>,
  chunks: AsyncIterable<Uint8Array>,
): Promise<Uint8Array<ArrayBuffer>> {
  const output = new Output();
  for await (const chunk of chunks) {
    await c.var.lease.body.wait(output.capacityFor(chunk.length), c.var.signal);
    output.reserve(chunk.length);
    output.write(chunk);
  }
  return output.written;
}
