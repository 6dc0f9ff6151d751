import { randomUUID } from 'node:crypto';
import type { FaultProxy } from '../../support/fault-proxy.ts';
import { randomFrom } from '../../support/random.ts';
import type { MatrixFault } from './faults.ts';
import type { Kind } from './kinds.ts';
import type { Tally } from './tally.ts';
import { type Verdict, judge } from './verdict.ts';

/** Faults by the index of the request to the database. */
export type Plan = ReadonlyMap<number, MatrixFault>;

/** A request with faults. */
export interface Trial {
  readonly kind: Kind;
  readonly plan: Plan;
  /** A fault of the key cache. */
  readonly cache?: string | undefined;
}

/** What trials share. */
export interface Context {
  readonly proxy: FaultProxy;
  readonly random: () => number;
  readonly tally: Tally;
}

/**
 * Runs trials, several at a time, each with its own faults.
 *
 * @param atATime trials at a time
 * @param context.random seeds each trial, in their order
 */
export async function runAll(
  trials: Iterable<Trial>,
  atATime: number,
  { proxy, random, tally }: Context,
): Promise<void> {
  const seeded = seededTrials(trials, random);
  const lane = async () => {
    // Not for…of: the first lane to end would close the generator.
    for (let next = seeded.next(); !next.done; next = seeded.next()) await run(next.value, proxy, tally);
  };
  await Promise.all(Array.from({ length: atATime }, lane));
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
  const isSingle = plan.size === 1; // a second fault may be planned for a request that the first one prevents
  const refusals = new Set([...plan.values()].flatMap((fault) => fault.refusals));
  let verdict: Verdict;
  try {
    verdict = judge(kind, await kind.send(name, cache ? { 'Test-Key-Cache': cache } : {}), refusals);
  } catch (error) {
    verdict = { is: 'wrong', what: String(error) };
  }
  note(trial, verdict, tally);
  if (isSingle && pending.size > 0)
    tally.wrong.push(`${kind.name}: never made the request for ${describeTrial(trial)}`);
}

function note(trial: Trial, verdict: Verdict, tally: Tally): void {
  tally.requests++;
  if (verdict.is === 'failure') tally.visible++;
  if (verdict.is === 'same') tally.same++;
  if (verdict.is === 'wrong') tally.wrong.push(`${trial.kind.name}, ${describeTrial(trial)}: ${verdict.what}`);
  const lost = verdict.is === 'same' ? 0 : verdict.is === 'wrong' ? verdict.lost : undefined;
  if (lost === undefined) return;
  tally.rowsCompared += trial.kind.rows.length;
  tally.rowsLost += lost;
}

function describeTrial({ plan, cache }: Trial): string {
  const what = [...plan].map(([at, { name }]) => `${name} at request ${at}`);
  return [...what, ...(cache ? [`a key cache that ${cache}`] : [])].join(' and ');
}
