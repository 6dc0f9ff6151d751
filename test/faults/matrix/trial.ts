import { randomUUID } from 'node:crypto';
import type { FaultProxy } from '../../support/fault-proxy.ts';
import { randomFrom } from '../../support/random.ts';
import type { MatrixFault } from './faults.ts';
import type { Kind } from './kinds.ts';
import type { Tally } from './tally.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

/** Faults by the index of the request to the database. */
export type Plan = ReadonlyMap<number, MatrixFault>;

/** A request with faults. */
export interface Trial {
  readonly kind: Kind;
  readonly plan: Plan;
  /** A fault of the key cache. */
  readonly cache?: string | undefined;
}

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
    for (let next = seeded.next(); !next.done; next = seeded.next()) await run(next.value, proxy, tally);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

function* seededTrials(trials: Iterable<Trial>, random: () => number) {
  for (const trial of trials) yield { ...trial, random: randomFrom(random() * 2 ** 32) };
}

async function run(trial: Trial & { random: () => number }, proxy: FaultProxy, tally: Tally): Promise<void> {
  const { kind, plan, cache, random } = trial;
  if (cache) tally.injected++;
  const name = randomUUID();
  const pending = new Map(plan);
  using _ = proxy.watch(name, (exchange) => {
    exchange.refuseLonger(kind.maxResultBytes);
    const fault = pending.get(exchange.index);
    if (!fault) return undefined;
    pending.delete(exchange.index);
    tally.injected++;
    return fault.inject(exchange, random);
  });
  const isSingle = plan.size === 1; // with more faults, the first may prevent the request that a second one is planned for
  const refusals = new Set([...plan.values()].flatMap((fault) => fault.refusals));
  let outcome: Outcome;
  try {
    outcome = outcomeOf(kind, await kind.send(name, cache ? { 'Test-Key-Cache': cache } : {}), refusals);
  } catch (error) {
    outcome = { type: 'wrong', problem: String(error) };
  }
  count(trial, outcome, tally);
  if (isSingle && pending.size > 0)
    tally.wrong.push(`${kind.name}: never sent the request for ${describeTrial(trial)}`);
}

function count(trial: Trial, outcome: Outcome, tally: Tally): void {
  tally.requests++;
  if (outcome.type === 'failure') tally.visible++;
  if (outcome.type === 'same') tally.same++;
  if (outcome.type === 'wrong') tally.wrong.push(`${trial.kind.name}, ${describeTrial(trial)}: ${outcome.problem}`);
  const lost = outcome.type === 'same' ? 0 : outcome.type === 'wrong' ? outcome.lost : undefined;
  if (lost === undefined) return;
  tally.rowsCompared += trial.kind.rows.length;
  tally.rowsLost += lost;
}

function describeTrial({ plan, cache }: Trial): string {
  const faults = [...plan].map(([at, { name }]) => `${name} at request ${at}`);
  return [...faults, ...(cache ? [`a key cache that ${cache}`] : [])].join(' and ');
}
