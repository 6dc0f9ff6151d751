import { randomUUID } from 'node:crypto';
import type { Fault, FaultProxy } from '../../support/fault-proxy.ts';
import { randomFrom } from '../../support/random.ts';
import type { MatrixFault } from './faults.ts';
import type { Download } from './download.ts';
import type { Kind } from './kinds.ts';
import { Liar } from './liar.ts';
import type { LiePlan } from './lies.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import type { Tally } from './tally.ts';
import type { PairedKind } from './world.ts';

/** Faults by the index of the request to the database. */
export type Plan = ReadonlyMap<number, MatrixFault>;

/** A request with visible faults. */
export interface FaultTrial {
  readonly kind: Kind;
  readonly plan: Plan;
  /** A fault of the key cache. */
  readonly cache?: string | undefined;
}

/** A request with a lie. */
export interface LieTrial {
  readonly kind: PairedKind;
  readonly lie: LiePlan;
}

export type Trial = FaultTrial | LieTrial;

/** A lie that a retry does not overcome ends a request with one of these. */
const LIE_REFUSALS = new Set([503]);
/** How long a page of an export is requested again. A status takes its usual time. */
const LIE_RETRY_SECONDS = '3';

/** Shared by all trials. */
export interface Context {
  readonly proxy: FaultProxy;
  readonly random: () => number;
  readonly tally: Tally;
}

/**
 * Runs trials concurrently.
 *
 * @param concurrency number of trials at a time
 * @param context.random seeds each trial, in order
 */
export async function runAll(
  trials: Iterable<Trial>,
  concurrency: number,
  { proxy, random, tally }: Context,
): Promise<void> {
  const seeded = seededTrials(trials, random);
  const worker = async () => {
    // Not for…of: the first worker to finish would close the generator.
    for (let next = seeded.next(); !next.done; next = seeded.next()) {
      const { trial, random: own } = next.value;
      await ('lie' in trial ? runLie(trial, own, proxy, tally) : runFaults(trial, own, proxy, tally));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

function* seededTrials(trials: Iterable<Trial>, random: () => number) {
  for (const trial of trials) yield { trial, random: randomFrom(random() * 2 ** 32) };
}

async function runFaults(trial: FaultTrial, random: () => number, proxy: FaultProxy, tally: Tally): Promise<void> {
  const { kind, plan, cache } = trial;
  if (cache) tally.injected++;
  const pending = new Map(plan);
  const download = await send(kind, proxy, cache ? { 'Test-Key-Cache': cache } : {}, (exchange) => {
    exchange.refuseLonger(kind.maxResultBytes);
    const fault = pending.get(exchange.index);
    if (!fault) return undefined;
    pending.delete(exchange.index);
    tally.injected++;
    return fault.inject(exchange, random);
  });
  const isSingle = plan.size === 1; // with more faults, the first may prevent the request that a second one is planned for
  const refusals = new Set([...plan.values()].flatMap((fault) => fault.refusals));
  count(kind, describeTrial(trial), outcomeOfSent(kind, download, refusals), tally);
  if (isSingle && pending.size > 0)
    tally.wrong.push(`${kind.name}: never sent the request for ${describeTrial(trial)}`);
}

async function runLie(
  { kind, lie: plan }: LieTrial,
  random: () => number,
  proxy: FaultProxy,
  tally: Tally,
): Promise<void> {
  const { lie, type, dose, place } = plan;
  const liar = new Liar(plan, random);
  const headers = { 'Test-Retry-Seconds': LIE_RETRY_SECONDS };
  const sent = [send(kind, proxy, headers, liar.faultFor(kind, kind.other))];
  if (lie.withOther) sent.push(send(kind.other, proxy, headers, liar.faultFor(kind.other, kind)));
  const downloads = await Promise.all(sent);
  tally.injected += liar.told;
  const refusals = liar.told > 0 ? LIE_REFUSALS : new Set<number>();
  for (const download of downloads) {
    const of = download === downloads[0] ? kind : kind.other;
    const outcome = outcomeOfSent(of, download, refusals);
    count(of, `${lie.name}: ${dose} of its ${type} from number ${place}`, outcome, tally);
    if (liar.told > 0) tally.countLie(lie.name, type, outcome);
  }
}

/** @returns an error if the response cannot be read, or has no end */
async function send(
  kind: Kind,
  proxy: FaultProxy,
  headers: Record<string, string>,
  fault: Fault,
): Promise<Download | Error> {
  const name = randomUUID();
  using _ = proxy.watch(name, fault);
  try {
    return await kind.send(name, headers);
  } catch (error) {
    return error as Error;
  }
}

function outcomeOfSent(kind: Kind, sent: Download | Error, refusals: ReadonlySet<number>): Outcome {
  return sent instanceof Error ? { type: 'wrong', problem: String(sent) } : outcomeOf(kind, sent, refusals);
}

function count(kind: Kind, trial: string, outcome: Outcome, tally: Tally): void {
  tally.requests++;
  if (outcome.type === 'failure') tally.visible++;
  if (outcome.type === 'same') tally.same++;
  if (outcome.type === 'wrong') tally.wrong.push(`${kind.name}, ${trial}: ${outcome.problem}`);
  const lost = outcome.type === 'same' ? 0 : outcome.type === 'wrong' ? outcome.lost : undefined;
  if (lost === undefined) return;
  tally.rowsCompared += kind.rows.length;
  tally.rowsLost += lost;
}

function describeTrial({ plan, cache }: FaultTrial): string {
  const faults = [...plan].map(([at, { name }]) => `${name} at request ${at}`);
  return [...faults, ...(cache ? [`a key cache that ${cache}`] : [])].join(' and ');
}
