import { randomUUID } from 'node:crypto';
import { pick } from '../../support/random.ts';
import { read } from '../checks/read.ts';
import type { Context } from '../context.ts';
import type { Request } from '../expected/select.ts';
import { positionOf } from '../model/order.ts';
import { type Random, below } from '../model/random-data.ts';
import { type Kind, kindOfRequest } from '../requests/kinds.ts';
import { type Deck, faults } from './deck.ts';
import type { InjectedFault, SqlResult } from './fault.ts';
import { Swap } from './swap.ts';
import { passing } from './visible.ts';

/** Sends a request of the next combination, with its fault at one of its requests to the database. @throws Error that describes what is wrong */
export async function tryNext(context: Context, random: Random, deck: Deck, ofPages: boolean): Promise<void> {
  const combination = deck.next(ofPages);
  const { kind, fault } = combination;
  const [account, other] = random() < 0.5 ? context.world.pair : context.world.pair.toReversed();
  if (!account || !other) throw new Error('there are no accounts');
  const request = kindOfRequest(random, kind, account);
  const maxBytes = kind.maxResultBytes;
  if (typeof fault === 'string') {
    // The first request may look the key up: a fault that a retry does not overcome would fail it as well.
    const plan = new Map([[someIndex(random, kind), pick(random, passing)]]);
    const key = await context.world.issueKey(account);
    await new Trial(context, random, { maxBytes, plan, cache: fault, key }).send(request);
    context.tally.pass(`fault: a key cache that ${fault}`);
    return;
  }
  // With more than one, the first may prevent the request that another one is planned for.
  const more = random() < 0.25 ? [pick(random, ALONE), pick(random, LASTING)] : [];
  const plan = new Map([...more, fault].map((one) => [someIndex(random, kind), one]));
  const trial = new Trial(context, random, { maxBytes, plan });
  const others = { ...request, account: other };
  if (fault.other === 'before')
    trial.foreign = await new Trial(context, random, { maxBytes, plan: new Map() }).send(others);
  const swap =
    fault.other === 'meanwhile' ? new Trial(context, random, { maxBytes, plan, swap: trial.swap }) : undefined;
  for (const one of await Promise.allSettled([trial.send(request), swap?.send(others)]))
    if (one.status === 'rejected') throw one.reason;
  if (trial.injected.includes(fault)) context.tally.pass(`fault: ${fault.name}`);
  else deck.putBack(combination);
}

/** The index of a request to the database, which may not be sent: how many are needed depends on what else runs. */
const someIndex = (random: Random, { survey, maxResultBytes }: Kind) =>
  below(random, survey === 'few rows' && maxResultBytes === Infinity ? 4 : 14);

const MAX_PAGES = 4;
/** Faults that need no other request. */
const ALONE = faults.filter(({ other }) => !other);
/** Faults that a retry does not overcome: they abort transfers. */
const LASTING = faults.filter(({ refusals }) => refusals.length > 0);

interface TrialOptions {
  /** The SQL endpoint's limit for a result. */
  readonly maxBytes: number;
  /** Faults by the index of the request to the database. */
  readonly plan: ReadonlyMap<number, InjectedFault>;
  readonly swap?: Swap;
  /** A fault of the key cache. */
  readonly cache?: string;
  readonly key?: string;
}

/** A request with faults. */
class Trial {
  readonly injected: InjectedFault[] = [];
  readonly swap: Swap;
  foreign: readonly SqlResult[] = [];
  readonly #context: Context;
  readonly #random: Random;
  readonly #options: TrialOptions;

  constructor(context: Context, random: Random, options: TrialOptions) {
    this.#context = context;
    this.#random = random;
    this.#options = options;
    this.swap = options.swap ?? new Swap();
  }

  /** Reads the request, and sometimes the pages after it. @returns the results of its requests to the database */
  async send(request: Request): Promise<SqlResult[]> {
    const { plan, maxBytes, cache, key } = this.#options;
    const name = randomUUID();
    const earlier: SqlResult[] = [];
    using _ = this.#context.proxy.watch(name, (exchange) => {
      exchange.refuseLonger(maxBytes);
      const fault = plan.get(exchange.index);
      if (!fault) {
        exchange.change((body) => {
          earlier.push(JSON.parse(body.toString()) as SqlResult);
          return body;
        });
        return undefined;
      }
      this.injected.push(fault);
      return fault.inject(exchange, this.#random, {
        earlier,
        foreign: this.foreign,
        swap: (own) => this.swap.exchange(own),
        unaltered: () => void this.injected.splice(this.injected.indexOf(fault), 1),
      });
    });
    const pages = this.#random() < 0.3 ? MAX_PAGES : 1;
    let page: Request | undefined = request;
    for (let i = 0; page && i < pages; i++) {
      const { outcome, headers } = await read(this.#context, page, {
        key: key ?? pick(this.#random, request.account.keys),
        gzip: this.#random() < 0.5,
        ...(this.#random() < 0.05 ? { method: 'HEAD' as const } : {}),
        headers: { 'Test-Trial': name, ...(cache ? { 'Test-Key-Cache': cache } : {}) },
        refusals: () => new Set(this.injected.flatMap(({ refusals }) => refusals)),
        isLimited: true,
      });
      this.#context.tally.pass(`read: ${request.path}, with faults${outcome === 'whole' ? '' : ': failing visibly'}`);
      page = outcome === 'whole' ? nextPage(page, headers.get('Link')) : undefined;
    }
    return earlier;
  }
}

/** The request for the page that a header `Link` names. */
function nextPage(request: Request, link: string | null): Request | undefined {
  const token = link === null ? null : new URL(link.slice(1, link.indexOf('>'))).searchParams.get('after');
  if (token === null) return undefined;
  return { ...request, parameters: { ...request.parameters, after: { response: positionOf(token), older: false } } };
}
