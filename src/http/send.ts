import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from './context.ts';
import { streamChunks } from './stream.ts';
import { reasonOf } from './failure-reason.ts';
import { logFailure } from './log.ts';
import type { TransferEnd } from './request-stats.ts';

const utf8 = new TextEncoder();

/** Answers with a body that is there as a whole. Its length is known: to HEAD, to compression.ts, and to the log. */
export function answerWhole(
  c: Context<AppEnv>,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
  status: ContentfulStatusCode = 200,
): Response {
  const bytes = (typeof body === 'string' ? utf8.encode(body) : body) as Uint8Array<ArrayBuffer>;
  c.var.stats.bytes = bytes.length;
  return c.body(bytes, status, { ...headers, 'Content-Length': String(bytes.length) });
}

/**
 * Answers with a body that is still being made: see {@link streamChunks}. What breaks it off goes into the log, since a
 * client sees a broken transfer only.
 */
export function answerStream(
  c: Context<AppEnv>,
  chunks: AsyncIterable<Uint8Array>,
  ending: AbortController,
  headers: Readonly<Record<string, string>>,
): Response {
  const { requestId, signal, stats } = c.var;
  const end = Promise.withResolvers<TransferEnd>();
  stats.transfer = end.promise;
  const body = streamChunks(chunks, ending, {
    sent: (bytes) => (stats.bytes += bytes),
    ended: (how, error) => {
      if (how === 'complete') end.resolve({ end: how });
      else if (how === 'left' || signal.aborted) end.resolve({ end: 'client left' });
      else {
        end.resolve({ end: 'failed', reason: reasonOf(error) });
        const { message, stack } = error instanceof Error ? error : new Error(String(error));
        logFailure('export failed', { requestId, error: message, stack });
      }
    },
  });
  return c.body(body, 200, headers);
}
