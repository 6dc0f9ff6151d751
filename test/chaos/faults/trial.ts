import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Account } from '../model/account.ts';
import { type Random, below } from '../model/random-data.ts';
import { pick } from '../../support/random.ts';
import type { Fault } from '../../support/fault-proxy.ts';
import { type Combination, type Deck, placesOf } from './deck.ts';
import { Liar } from './liar.ts';
import type { Dose, Lie } from './lies.ts';
import { type Rehearsal, readKind } from './rehearsal.ts';
import type { QueryType } from './results.ts';
import { type VisibleFault, faults, passing } from './visible.ts';

/** A lie that a retry does not overcome ends a request with one of these. */
const LIE_REFUSALS: ReadonlySet<number> = new Set([503]);
/** How long a page of an export is requested again, with lies that a retry does not overcome. A status takes its usual time. */
const LIE_RETRY_SECONDS = '3';
/** With more requests than this, their number depends on what else runs: the service reads smaller pages beside others. */
const ALWAYS_SENT = 6;

/** Sends requests with faults, each combination once if time allows. */
export class Trials {
  readonly deck: Deck;
  readonly #rehearsals: readonly (readonly [Rehearsal, Rehearsal])[];

  /** @param rehearsals of each kind, by two accounts */
  constructor(deck: Deck, rehearsals: readonly (readonly [Rehearsal, Rehearsal])[]) {
    this.deck = deck;
    this.#rehearsals = rehearsals;
  }

  /** Tries the next combination. @throws Error that describes what is wrong */
  async next(context: Context, random: Random, ofPages: boolean): Promise<void> {
    const combination = this.deck.next(ofPages);
    const { name, isReached } = await this.#run(context, random, combination, ofPages);
    if (isReached) context.tally.pass(name);
    else this.deck.putBack(combination);
  }

  async #run(
    context: Context,
    random: Random,
    combination: Combination,
    ofPages: boolean,
  ): Promise<{ name: string; isReached: boolean }> {
    if ('lie' in combination) {
      const { lie, type } = combination;
      return {
        name: `fault: ${lie.name}, of ${type}`,
        isReached: await this.#lie(context, random, lie, type, ofPages),
      };
    }
    const { kind } = combination;
    const rehearsal = pick(random, this.#rehearsals.find(([{ kind: of }]) => of === kind) ?? []);
    if ('cache' in combination) {
      await withFaults(context, random, rehearsal, [], combination.cache);
      return { name: `fault: a key cache that ${combination.cache}`, isReached: true };
    }
    const { fault } = combination;
    // With more than one, the first may prevent the request that another one is planned for.
    const more = Array.from({ length: random() < 0.2 ? 2 : 0 }, () => pick(random, faults));
    const injected = await withFaults(context, random, rehearsal, [fault, ...more]);
    return { name: `fault: ${fault.name}`, isReached: injected.includes(fault) };
  }

  /** Alters results of a type, of one request or of two accounts' at the same time. @returns whether any was altered */
  async #lie(context: Context, random: Random, lie: Lie, type: QueryType, ofPages: boolean): Promise<boolean> {
    const both = this.#rehearsals
      .filter(([{ kind }]) => ofPages || kind.path !== '/responses')
      .filter(([one]) => placesOf(lie, type, [one]).length > 0);
    const [own, other] = pick(random, both);
    const places = lie.places(own, type);
    const place = pick(random, [places[0], places.at(-1), pick(random, places)]) ?? 0;
    const isFirst = own.kind.path === '/responses' || place === places[0]; // the client waits long for a status
    const dose = pick<Dose>(random, isFirst ? ['one', 'one', 'several'] : ['one', 'one', 'several', 'all']);
    const liar = new Liar({ lie, type, dose, place }, random);
    const refusals = () => (liar.told > 0 ? LIE_REFUSALS : new Set<number>());
    const headers: Record<string, string> = dose === 'all' ? { 'Test-Retry-Seconds': LIE_RETRY_SECONDS } : {};
    const sent = [readWatched(context, random, own, liar.faultFor(own, other), { refusals, headers })];
    if (lie.withOther) sent.push(readWatched(context, random, other, liar.faultFor(other, own), { refusals, headers }));
    await settled(sent);
    return liar.told > 0;
  }
}

/** @returns the faults that were injected */
async function withFaults(
  context: Context,
  random: Random,
  rehearsal: Rehearsal,
  wanted: readonly VisibleFault[],
  cache?: string,
): Promise<readonly VisibleFault[]> {
  const { kind, requests, request } = rehearsal;
  const sure = requests <= ALWAYS_SENT ? requests : Math.ceil(requests / 2);
  // With a fault of the key cache, the first request may look the key up: other faults would fail it as well.
  const plan = new Map(
    (cache ? [pick(random, passing)] : wanted).toReversed().map((fault) => [below(random, sure), fault]),
  );
  const injected: VisibleFault[] = [];
  const fault: Fault = (exchange) => {
    exchange.refuseLonger(kind.maxResultBytes);
    const planned = plan.get(exchange.index);
    plan.delete(exchange.index);
    if (!planned) return undefined;
    injected.push(planned);
    return planned.inject(exchange, random);
  };
  const refusals = () => new Set(injected.flatMap((one) => one.refusals));
  const headers: Record<string, string> = cache ? { 'Test-Key-Cache': cache } : {};
  const key = cache ? await context.world.issueKey(request.account) : undefined;
  await readWatched(context, random, rehearsal, fault, { refusals, headers, key });
  return injected;
}

interface Watched {
  readonly refusals: () => ReadonlySet<number>;
  readonly headers: Readonly<Record<string, string>>;
  readonly key?: string | undefined;
}

async function readWatched(
  context: Context,
  random: Random,
  { kind, request }: Rehearsal,
  fault: Fault,
  { refusals, headers, key }: Watched,
) {
  const name = randomUUID();
  using _ = context.proxy.watch(name, fault);
  const isWhole = await readKind(context, kind, request, {
    key: key ?? keyOf(random, request.account),
    gzip: random() < 0.5,
    headers: { ...headers, 'Test-Trial': name },
    refusals,
  });
  context.tally.pass(`read: ${kind.name}${isWhole ? '' : ', failing visibly'}`);
}

const keyOf = (random: Random, { keys }: Account) => pick(random, keys);

/** Waits for all, then fails if one failed. */
async function settled(all: readonly Promise<unknown>[]): Promise<void> {
  for (const one of await Promise.allSettled(all)) if (one.status === 'rejected') throw one.reason;
}
