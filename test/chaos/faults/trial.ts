import { randomUUID } from 'node:crypto';
import { type Random, below, pick } from '../../support/random.ts';
import { linkedToken } from '../checks/headers.ts';
import { read } from '../checks/read.ts';
import type { Context } from '../context.ts';
import { positionOf } from '../model/order.ts';
import { randomParameters } from '../requests/parameters.ts';
import type { Request } from '../requests/request.ts';
import { type Deck, type Kind, faults } from './deck.ts';
import { type InjectedFault, type SqlResult, Swap } from './fault.ts';
import { lasting, passing } from './visible.ts';

/** Sends a request of the next combination, with its fault at one of its requests to the database. @throws Error that describes what is wrong */
export async function tryNext(context: Context, random: Random, deck: Deck, ofPages: boolean): Promise<void> {
  const combination = deck.next(ofPages);
  const { kind, fault } = combination;
  const [account, other] = random() < 0.5 ? context.world.pair : context.world.pair.toReversed();
  if (!account || !other) throw new Error('there are no accounts');
  const { path, survey, layout } = kind;
  const request = { account, path, parameters: randomParameters(random, path, survey, [account], layout) };
  if (typeof fault === 'string') {
    // The first request may look the key up: a fault that a retry does not overcome would fail it as well.
    const plan = new Map([[someIndex(random, kind), pick(random, passing)]]);
    const key = await context.world.issueKey(account);
    await send(context, random, { request, kind, plan, cache: { 'Test-Key-Cache': fault }, key });
    context.tally.pass(`fault: a key cache that ${fault}`);
    return;
  }
  // With more than one, the first may prevent the request that another one is planned for.
  const more = random() < 0.25 ? [pick(random, ALONE), pick(random, lasting)] : [];
  const plan = new Map([...more, fault].map((one) => [someIndex(random, kind), one]));
  const swap = new Swap();
  const others = { request: { ...request, account: other }, kind, plan, swap };
  const before = fault.other === 'before' ? await send(context, random, { ...others, plan: new Map() }) : undefined;
  const meanwhile = fault.other === 'meanwhile' ? send(context, random, others) : undefined;
  const trial = send(context, random, { request, kind, plan, swap, foreign: before?.results });
  for (const one of await Promise.allSettled([trial, meanwhile])) if (one.status === 'rejected') throw one.reason;
  if ((await trial).injected.includes(fault)) context.tally.pass(`fault: ${fault.name}`);
  else deck.putBack(combination);
}

/** The index of a request to the database, which may not be sent: how many are needed depends on what else runs. */
const someIndex = (random: Random, { survey, maxBytes }: Kind) =>
  below(random, survey === 'few rows' && maxBytes === Infinity ? 4 : 14);

const MAX_PAGES = 4;
/** Faults that need no other request. */
const ALONE = faults.filter(({ other }) => !other);

interface Trial {
  readonly request: Request;
  readonly kind: Kind;
  /** Faults by the index of the request to the database. */
  readonly plan: ReadonlyMap<number, InjectedFault>;
  readonly swap?: Swap;
  /** Results of another account. */
  readonly foreign?: readonly SqlResult[] | undefined;
  /** The header for a fault of the key cache. */
  readonly cache?: Readonly<Record<string, string>>;
  readonly key?: string;
}

/** Reads a request with faults, and sometimes the pages after it. @returns the results of its requests to the database */
async function send(
  context: Context,
  random: Random,
  { request, kind, plan, swap = new Swap(), foreign = [], cache = {}, key }: Trial,
): Promise<{ results: SqlResult[]; injected: InjectedFault[] }> {
  const name = randomUUID();
  const results: SqlResult[] = [];
  const injected: InjectedFault[] = [];
  using _ = context.proxy.watch(name, (exchange) => {
    exchange.refuseLonger(kind.maxBytes);
    const fault = plan.get(exchange.index);
    if (fault) {
      injected.push(fault);
      const unaltered = () => void injected.splice(injected.indexOf(fault), 1);
      return fault.inject(exchange, random, { earlier: results, foreign, swap, unaltered });
    }
    exchange.change((body) => {
      results.push(JSON.parse(body.toString()) as SqlResult);
      return body;
    });
    return undefined;
  });
  let page: Request | undefined = request;
  for (let left = random() < 0.3 ? MAX_PAGES : 1; page && left > 0; left--) {
    const { outcome, headers } = await read(context, page, {
      key: key ?? pick(random, request.account.keys),
      gzip: random() < 0.5,
      ...(random() < 0.05 ? { method: 'HEAD' as const } : {}),
      headers: { 'Test-Trial': name, ...cache },
      refusals: () => new Set(injected.flatMap(({ refusals }) => refusals)),
      isLimited: true,
    });
    context.tally.pass(`read: ${request.path}, with faults${outcome === 'whole' ? '' : ': failing visibly'}`);
    page = outcome === 'whole' ? nextPage(page, linkedToken(headers)) : undefined;
  }
  return { results, injected };
}

/** The request for the page after a token. */
function nextPage(request: Request, token: string | null): Request | undefined {
  if (token === null) return undefined;
  return { ...request, parameters: { ...request.parameters, after: { response: positionOf(token), older: false } } };
}
