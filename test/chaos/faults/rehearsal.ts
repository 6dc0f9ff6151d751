import { randomUUID } from 'node:crypto';
import { type Reading, read } from '../checks/read.ts';
import type { Context } from '../context.ts';
import type { Request } from '../expected/select.ts';
import { type Account, byCursor, positionOf } from '../model/account.ts';
import type { Random } from '../model/random-data.ts';
import { pick } from '../../support/random.ts';
import type { Kind } from '../requests/kinds.ts';
import { QueryCounts, type Recorded, parseResult } from './results.ts';

/** A request of a kind, sent once without faults. */
export interface Rehearsal {
  readonly kind: Kind;
  readonly request: Request;
  /** Number of requests to the database. */
  readonly requests: number;
  /** The results of these requests, in the order in which they arrived. */
  readonly results: readonly Recorded[];
}

export async function rehearse(context: Context, random: Random, kind: Kind, account: Account): Promise<Rehearsal> {
  const { path, survey } = kind;
  const ids = new Set(account.data.forms.filter((form) => form.survey === survey).map(({ id }) => id));
  const rows = account.data.responses.filter(({ form }) => ids.has(form)).toSorted(byCursor);
  const request = { account, path, parameters: { survey, ...kind.parameters?.(random, rows) } };
  const name = randomUUID();
  const counts = new QueryCounts();
  const results: Recorded[] = [];
  using watch = context.proxy.watch(name, (exchange) => {
    exchange.refuseLonger(kind.maxResultBytes);
    const counted = counts.next(exchange);
    if (!counted) return;
    exchange.change((body) => {
      results.push({ ...counted, result: parseResult(body) });
      return body;
    });
  });
  await readKind(context, kind, request, { key: pick(random, account.keys), headers: { 'Test-Trial': name } });
  return { kind, request, requests: watch.requests, results };
}

/** Reads a request of a kind; of a kind that is paged, all pages. @returns whether the response is whole */
export async function readKind(context: Context, kind: Kind, request: Request, reading: Reading): Promise<boolean> {
  const { isPaged, method } = kind;
  for (let page = request; ;) {
    const { outcome, bytes } = await read(context, page, {
      ...reading,
      isLimited: true,
      ...(method ? { method } : {}),
    });
    if (outcome === 'failure') return false;
    if (!isPaged) return true;
    const { responses } = JSON.parse(bytes.toString()) as { responses: { token: string }[] };
    const token = responses.at(-1)?.token;
    if (responses.length < (request.parameters.pageSize ?? 25) || token === undefined) return true;
    page = { ...request, parameters: { ...request.parameters, after: { response: positionOf(token), older: false } } };
  }
}
