import { setTimeout as sleep } from 'node:timers/promises';
import { origin } from '../../support/api.ts';
import { expectConformance } from '../../support/conformance.ts';
import { naiveCsv } from '../../support/csv.ts';
import { readWorkbook } from '../../support/xlsx.ts';
import type { Context } from '../context.ts';
import { type Layout, different, layoutsOf } from '../expected/layout.ts';
import { type Request, formsOf, select } from '../expected/select.ts';
import { statusesOf } from '../expected/status.ts';
import type { Data } from '../model/account.ts';
import { addressOf } from '../requests/address.ts';
import { type Received, type Sending, send } from '../requests/send.ts';
import { problemInBody } from './body.ts';
import { leaksIn } from './leaks.ts';
import { problemInRefusal } from './refusal.ts';
import { problemInTag } from './tags.ts';

/** How to read, and what may go wrong. */
export interface Reading extends Sending {
  readonly gzip?: boolean;
  /** `If-None-Match`. */
  readonly tag?: string | undefined;
  /** Whether results of the database are limited: a page that does not fit into one is streamed, without a tag. */
  readonly isLimited?: boolean;
  /** The error statuses that the faults of this request explain. With any, the transfer may break off too. */
  readonly refusals?: () => ReadonlySet<number>;
}

/** A response that passed all checks. `failure`: a status or a broken transfer that faults explain. */
export interface Read extends Received {
  readonly outcome: 'whole' | 'failure';
}

/** Why requests are refused until others have ended: see src/read/limits.ts. */
export const BUSY: ReadonlySet<string> = new Set(['rate_limited', 'overloaded']);
/** Longer than requests wait for others. */
const MAX_BUSY_MS = 60_000;

/**
 * Sends a request, again while it is refused because of others that are running, and checks the response.
 *
 * @throws Error that describes what is wrong
 */
export async function read(context: Context, request: Request, reading: Reading): Promise<Read> {
  const { key, method = 'GET', gzip = false, tag, slowMs } = reading;
  const headers = {
    'Accept-Encoding': gzip ? 'gzip' : 'identity',
    ...(tag === undefined ? {} : { 'If-None-Match': tag }),
    ...reading.headers,
  };
  const address = addressOf(request);
  try {
    for (const deadline = Date.now() + MAX_BUSY_MS; ; await sleep(100)) {
      const states = request.account.watch();
      const received = await send(address, { key, method, headers, slowMs });
      const isBusy = BUSY.has(received.headers.get('x-error-code') ?? '');
      if (isBusy && Date.now() > deadline) throw new Error(`still refused after ${MAX_BUSY_MS / 1000} s`);
      await checkResponse(context, request, reading, received);
      if (isBusy) continue;
      return { ...received, outcome: outcomeOf(context, request, reading, received, states()) };
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
  if (leaks.length > 0) throw new Error(`status ${received.status} reveals ${leaks.slice(0, 5).join(', ')}`);
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
  const { status, headers, complete, bytes } = received;
  const refusals = reading.refusals?.() ?? new Set();
  const isHead = reading.method === 'HEAD';
  // The survey's form versions and its responses are read by different queries, perhaps at different moments.
  const isOfSurvey = request.path !== '/surveys';
  const moments = different(states.map((data) => (isOfSurvey ? formsOf(request.parameters, data) : data.forms)));
  const known = moments.flatMap((forms) => statusesOf(request, forms, states));
  const isKnown = known.some(
    (one) => one.status === status && (isHead || one.error === undefined || one.error === String(bytes)),
  );
  const isUnchanged = status === 304 && known.some((one) => one.status === 200);
  if (!isKnown && !isUnchanged) {
    if (!refusals.has(status))
      throw new Error(
        `status ${status} ${String(bytes).slice(0, 200)}, expected ${JSON.stringify(known).slice(0, 300)}`,
      );
    const problem = problemInRefusal(received, isHead);
    if (problem) throw new Error(problem);
    return 'failure';
  }
  if (!complete && refusals.size === 0) throw new Error(`status ${status}, and the transfer broke off without a fault`);
  if (status !== 200 && status !== 304) return 'whole';

  const layouts = moments.flatMap((forms) => layoutsOf(request, forms, states));
  const problem =
    isHead || status === 304 ? (bytes.length > 0 ? 'a body' : undefined) : problemIn(request, received, layouts);
  const wrong =
    problem ??
    problemInHeaders(request, reading, received, states) ??
    problemInTag(context, request, reading, received, layouts);
  if (wrong) throw new Error(`status ${status}, ${complete ? 'complete' : 'broken off'}: ${wrong}`);
  context.tally.rows += isHead || !complete ? 0 : Math.min(...layouts.map(({ units }) => units.length));
  if (complete && status === 200) checkLink(request, headers, layouts);
  return complete ? 'whole' : 'failure';
}

/** Compares a body with all that are expected. Nothing can be read in a workbook that broke off. */
function problemIn(request: Request, { bytes, complete }: Received, layouts: readonly Layout[]): string | undefined {
  if (request.path === '/responses/xlsx' && !complete) return undefined;
  const body = bodyOf(request, bytes);
  let problem: string | undefined;
  for (const layout of layouts) {
    problem = problemInBody(body, layout, complete);
    if (!problem) return undefined;
  }
  return problem;
}

/** A body as `layoutsOf` writes it. */
function bodyOf({ path }: Request, bytes: Buffer): string {
  if (path === '/responses/xlsx') {
    const [header = [], ...rows] = readWorkbook(bytes);
    return naiveCsv([header, ...rows.map((row) => header.map((_, i) => row[i] ?? null))]);
  }
  // A character that the transfer broke within is left out.
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  return path === '/responses' ? text.replace(/^\{"responses":\[(?=.)(?!\])/s, '$&,') : text;
}

const COUNTED = new Set(['/responses', '/responses/csv', '/responses/ndjson', '/responses/xlsx']);
/** The smallest body that is compressed, in bytes. */
const MIN_COMPRESSED_BYTES = 1024;

function problemInHeaders(
  request: Request,
  { gzip }: Reading,
  received: Received,
  states: readonly Data[],
): string | undefined {
  const { path, parameters } = request;
  const { headers, status, bytes } = received;
  const encoding = headers.get('Content-Encoding');
  const mustCompress = gzip && status === 200 && bytes.length >= MIN_COMPRESSED_BYTES && path !== '/responses/xlsx';
  if (mustCompress ? encoding !== 'gzip' : encoding !== null && !gzip) return `Content-Encoding: ${encoding}`;
  const total = headers.get('X-Total-Count');
  const isCounted = parameters.count && COUNTED.has(path);
  if (!isCounted) return total === null ? undefined : `X-Total-Count: ${total}`;
  const totals = states.flatMap((one) =>
    states.map(({ responses }) => select(parameters, formsOf(parameters, one), responses).length),
  );
  return total !== null && totals.includes(Number(total))
    ? undefined
    : `X-Total-Count: ${total}, expected ${totals.join(' or ')}`;
}

/** A full page has a link to the next one: unless rows changed, that after its last row. */
function checkLink({ path, parameters }: Request, headers: Headers, layouts: readonly Layout[]): void {
  const { units, limit } = layouts[0] as Layout;
  if (
    path !== '/responses' ||
    layouts.length > 1 ||
    units.some(({ texts, isRequired }) => texts.length > 1 || !isRequired)
  )
    return;
  const link = headers.get('Link');
  const last =
    units.length >= limit
      ? (JSON.parse(units[limit - 1]?.texts[0]?.slice(1) ?? '{}') as { token?: string }).token
      : undefined;
  const next = link === null ? undefined : (new URL(link.slice(1, link.indexOf('>'))).searchParams.get('after') ?? '');
  if (next !== last && !(link === null && parameters.survey.length > 1000))
    throw new Error(`Link: ${link}, expected one after ${last}`);
}
