import type { FaultProxy } from '../../support/fault-proxy.ts';
import type { Download } from './download.ts';
import { faults } from './faults.ts';
import { type Kind, answersIn } from './kinds.ts';
import type { Tally } from './tally.ts';

/** Faults by the position of the request that they spoil. */
export type Plan = ReadonlyMap<number, string>;

/** One request under faults. */
export interface Trial {
  readonly kind: Kind;
  readonly plan: Plan;
  /** What the cache of keys does meanwhile. */
  readonly cache?: string | undefined;
}

/** Runs a trial and judges it: the same bytes, a visible failure, or wrong. */
export async function run(trial: Trial, proxy: FaultProxy, random: () => number, tally: Tally): Promise<void> {
  const { kind, plan, cache } = trial;
  if (cache) tally.injected++;
  proxy.inject((exchange) => {
    const fault = faults[plan.get(exchange.index) ?? ''];
    if (!fault) return undefined;
    tally.injected++;
    return fault(exchange, random);
  });
  let what: string | undefined;
  try {
    what = judge(kind, await kind.ask(cache ? { 'Test-Key-Cache': cache } : {}), tally);
  } catch (error) {
    what = String(error);
  }
  tally.exports++;
  if (what !== undefined) tally.wrong.push(`${kind.name}, ${describePlan(trial)}: ${what}`);
}

/** @returns what is wrong, if anything is */
function judge(kind: Kind, { status, complete, bytes }: Download, tally: Tally): string | undefined {
  if (status === 200 && complete) {
    const answers = answersIn(kind.whole);
    tally.answersCompared += answers.length;
    if (bytes.equals(kind.whole)) {
      tally.same++;
      return undefined;
    }
    const came = new Set(answersIn(bytes));
    const lost = answers.filter((answer) => !came.has(answer)).length;
    tally.answersLost += lost;
    return `a clean end after other bytes, ${lost} of ${answers.length} rows lost`;
  }
  const begun = status === 200 && kind.whole.subarray(0, bytes.length).equals(bytes);
  if (!begun && !(status >= 400 && complete) && status !== 0) return `${status}, with bytes of something else`;
  tally.visible++;
  return undefined;
}

function describePlan({ plan, cache }: Trial): string {
  const what = [...plan].map(([at, name]) => `${name} at request ${at}`);
  return [...what, ...(cache ? [`a key cache that ${cache}`] : [])].join(' and ');
}
