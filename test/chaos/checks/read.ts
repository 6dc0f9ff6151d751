import { setTimeout as sleep } from 'node:timers/promises';
import { origin } from '../../support/api.ts';
import { expectConformance } from '../../support/conformance.ts';
import { naiveCsv } from '../../support/csv.ts';
import type { Opening } from '../../support/export.ts';
import { readWorkbook } from '../../support/xlsx.ts';
import type { Context } from '../context.ts';
import { type Layout, different, layoutsOf } from '../expected/layout.ts';
import { formsOf } from '../expected/select.ts';
import type { Data } from '../model/account.ts';
import { type Request, addressOf } from '../requests/request.ts';
import { type Received, send } from '../requests/send.ts';
import { problemInBody } from './body.ts';
import { problemInHeaders } from './headers.ts';
import { leaksIn } from './leaks.ts';

/** How to read, and what may go wrong. */
export interface Reading extends Opening {
  readonly gzip?: boolean;
  /** `If-None-Match`. */
  readonly tag?: string | undefined;
  /**
   * Whether results of the database are limited. What does not fit into one is streamed, without a
   * length, and without a tag.
   */
  readonly isLimited?: boolean;
  /**
   * The error statuses that the faults of this request explain. With any, the transfer may break
   * off too.
   */
  readonly refusals?: () => ReadonlySet<number>;
}

/**
 * A response that passed all checks. `failure`: a status or a broken transfer that faults explain.
 */
export interface Read extends Received {
  readonly outcome: 'whole' | 'failure';
}

/**
 * The codes and statuses of requests that are refused until others have ended: see
 * src/limits/slots.ts.
 */
const BUSY: Readonly<Record<string, number>> = { rate_limited: 429, overloaded: 503 };

/**
 * Whether a request was refused because it waited for one that is being retried, since it has no
 * faults that explain the status.
 */
const isBesideRetries = ({ status, headers }: Received, { refusals }: Reading): boolean =>
  status === 503 &&
  headers.get('X-Error-Code') === 'database_unavailable' &&
  !(refusals?.().has(status) ?? false);

export const isBusy = ({ status, headers }: Pick<Received, 'status' | 'headers'>): boolean =>
  BUSY[headers.get('X-Error-Code') ?? ''] === status;

/** Sooner than `Retry-After` tells clients, for more checks in the same time. */
const RETRY_MS = 1_000;
/** Longer than requests wait for others. */
const MAX_BUSY_MS = 60_000;

/**
 * Sends a request, again while it is refused because of others that are running, and checks the
 * response.
 *
 * @throws Error that describes what is wrong
 */
export async function read(context: Context, request: Request, reading: Reading): Promise<Read> {
  const { key, method = 'GET', gzip = false, tag } = reading;
  const headers = {
    // In capitals, which the local runtime ignores, so that only the Worker compresses.
    'Accept-Encoding': gzip ? 'GZIP' : 'identity',
    ...(tag === undefined ? {} : { 'If-None-Match': tag }),
    ...reading.headers,
  };
  const address = addressOf(request);
  try {
    for (const deadline = Date.now() + MAX_BUSY_MS; ; await sleep(RETRY_MS)) {
      const states = request.account.watch();
      const received = await send(address, { key, method, headers });
      const isRefused = isBusy(received) || isBesideRetries(received, reading);
      if (isRefused && Date.now() > deadline)
        throw new Error(`still refused after ${MAX_BUSY_MS / 1000} s`);
      await checkResponse(context, request, reading, received);
      if (isRefused) continue;
      const outcome = outcomeOf(context, request, reading, received, states());
      context.served.set(received.headers.get('X-Request-Id') ?? '', outcome === 'whole');
      return { ...received, outcome };
    }
  } catch (error) {
    const described = `${method} ${address.slice(0, 400)} ${JSON.stringify(headers)}`;
    throw new Error(`${described}: ${(error as Error).message}`, { cause: error });
  }
}

/** What holds for every response: it reveals nothing and conforms to the API's description. */
async function checkResponse(
  { world }: Context,
  { account, path }: Request,
  { method = 'GET' }: Reading,
  received: Received,
) {
  const leaks = leaksIn(account, world.accounts, received);
  if (leaks.length > 0)
    throw new Error(`status ${received.status} reveals ${leaks.slice(0, 5).join(', ')}`);
  if (!received.complete) return;
  const text = received.bytes.toString('utf8');
  await expectConformance(origin(), { method, path: `/api/v1${path}` }, { ...received, text });
}

function outcomeOf(
  context: Context,
  request: Request,
  reading: Reading,
  received: Received,
  states: readonly Data[],
): Read['outcome'] {
  const { status, complete, bytes } = received;
  const refusals = reading.refusals?.() ?? new Set();
  const isHead = reading.method === 'HEAD';
  const isExplained =
    refusals.has(status) && complete && (isHead || MESSAGES[status]?.test(String(bytes)));
  if (isExplained) return 'failure';
  // The survey's form versions and its responses are read by different queries, perhaps at
  // different moments.
  const isOfSurvey = request.path !== '/surveys';
  const moments = different(
    states.map((data) => (isOfSurvey ? formsOf(request.parameters, data) : data.forms)),
  );
  const known = moments.flatMap((forms) => layoutsOf(request, forms, states));
  const layouts = known.filter((layout) => layout.status === (status === 304 ? 200 : status));
  if (layouts.length === 0) {
    const expected = known
      .map((layout) => `${layout.status} ${layout.start.slice(0, 100)}`)
      .join(' or ');
    throw new Error(`status ${status} ${String(bytes).slice(0, 200)}, expected ${expected}`);
  }
  // A page of JSON that takes several results ends visibly if responses were stored or deleted
  // between them.
  const isChanged = request.path === '/responses' && states.length > 1;
  if (!complete && refusals.size === 0 && !isChanged) {
    const id = received.headers.get('X-Request-Id') ?? '';
    const logged = context.stack.worker.log().split('\n');
    const reason = logged.find((line) => line.includes(id));
    throw new Error(
      `status ${status}, and the transfer broke off without a fault: ${reason?.slice(0, 500)}`,
    );
  }
  const wrong =
    (isHead || status === 304 ? undefined : problemIn(request, received, layouts)) ??
    (status >= 400
      ? undefined
      : problemInHeaders(context, { request, reading, received, layouts, states }));
  if (wrong) throw new Error(`status ${status}, ${complete ? 'complete' : 'broken off'}: ${wrong}`);
  return complete ? 'whole' : 'failure';
}

/** The documented errors that faults cause. */
const MESSAGES: Readonly<Record<number, RegExp>> = {
  400: /^{"error":{"message":"This selection has /,
  500: /^{"error":{"message":"Something went wrong on our side\. Please tell us this request id: [\w-]+"}}$/,
  503: /^{"error":{"message":"The database cannot be reached at the moment\. Please try again shortly\."}}$/,
};

/** Compares a body with all that are expected. Nothing can be read in a workbook that broke off. */
function problemIn(
  request: Request,
  { status, bytes, complete }: Received,
  layouts: readonly Layout[],
): string | undefined {
  if (request.path === '/responses/xlsx' && !complete) return undefined;
  const body = status === 200 ? bodyOf(request, bytes) : bytes.toString();
  const problems = layouts.map((layout) => problemInBody(body, layout, complete));
  if (problems.includes(undefined)) return undefined;
  return (
    problems.find((problem) => !problem?.startsWith('another start')) ??
    problems[0] ??
    'no body is expected'
  );
}

/** A body as `layoutsOf` writes it. */
function bodyOf({ path, parameters }: Request, bytes: Buffer): string {
  if (path === '/responses/xlsx') {
    const sheets = parameters.codebook ? [1, 2] : [1];
    return sheets
      .map((sheet) => {
        const [header = [], ...rows] = readWorkbook(bytes, sheet);
        return naiveCsv([header, ...rows.map((row) => header.map((_, i) => row[i] ?? null))]);
      })
      .join('');
  }
  // A character that the transfer broke within is left out.
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, {
    stream: true,
  });
  return path === '/responses' ? text.replace(/^\{"responses":\[(?=.)(?!\])/s, '$&,') : text;
}
