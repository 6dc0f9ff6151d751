import { randomUUID } from 'node:crypto';
import type { FaultProxy } from '../../support/fault-proxy.ts';
import { randomFrom } from '../../support/random.ts';
import type { MatrixFault } from './faults.ts';
import type { Kind } from './kinds.ts';
import type { Tally } from './tally.ts';
import { type Verdict, judge } from './verdict.ts';

/** Faults by the position of the request that they spoil. */
export type Plan = ReadonlyMap<number, MatrixFault>;

/** One request under faults. */
export interface Trial {
  readonly kind: Kind;
  readonly plan: Plan;
  /** What the cache of keys does meanwhile. */
  readonly cache?: string | undefined;
}

/**
 * Runs trials, several side by side: each has its own faults, whatever the others meet.
 *
 * @param random what trials do at random follows from the order of the trials alone
 */
export async function runAll(
  trials: Iterable<Trial>,
  atATime: number,
  { proxy, random, tally }: { proxy: FaultProxy; random: () => number; tally: Tally },
): Promise<void> {
  const seeded = seededTrials(trials, random);
  const lane = async () => {
    // Not for…of, with which the first lane to end would close the generator.
    for (let next = seeded.next(); !next.done; next = seeded.next()) await run(next.value, proxy, tally);
  };
  await Promise.all(Array.from({ length: atATime }, lane));
}

function* seededTrials(trials: Iterable<Trial>, random: () => number) {
  for (const trial of trials) yield { ...trial, random: randomFrom(random() * 2 ** 32) };
}

/** Runs a trial and judges it. */
async function run(trial: Trial & { random: () => number }, proxy: FaultProxy, tally: Tally): Promise<void> {
  const { kind, plan, cache, random } = trial;
  if (cache) tally.injected++;
  const name = randomUUID();
  const ahead = new Map(plan);
  using _ = proxy.watch(name, (exchange) => {
    exchange.refuseLonger(kind.longest);
    const fault = ahead.get(exchange.index);
    if (!fault) return undefined;
    ahead.delete(exchange.index);
    tally.injected++;
    return fault.spoil(exchange, random);
  });
  const refusals = new Set([...plan.values()].flatMap((fault) => fault.refusals));
  let verdict: Verdict;
  try {
    verdict = judge(kind, await kind.ask(name, cache ? { 'Test-Key-Cache': cache } : {}), refusals);
  } catch (error) {
    verdict = { is: 'wrong', what: String(error) };
  }
  note(trial, verdict, tally);
  if (ahead.size > 0) tally.unmet.push(`${kind.name}, ${describeTrial({ kind, plan: ahead })}`);
}

function note(trial: Trial, verdict: Verdict, tally: Tally): void {
  tally.requests++;
  if (verdict.is === 'failure') tally.visible++;
  if (verdict.is === 'same') tally.same++;
  if (verdict.is === 'wrong') tally.wrong.push(`${trial.kind.name}, ${describeTrial(trial)}: ${verdict.what}`);
  const lost = verdict.is === 'same' ? 0 : verdict.is === 'wrong' ? verdict.lost : undefined;
  if (lost === undefined) return;
  tally.answersCompared += trial.kind.answers.length;
  tally.answersLost += lost;
}

function describeTrial({ plan, cache }: Trial): string {
  const what = [...plan].map(([at, { name }]) => `${name} at request ${at}`);
  return [...what, ...(cache ? [`a key cache that ${cache}`] : [])].join(' and ');
}
