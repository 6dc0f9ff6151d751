import { memoryOf } from '../../bench/process-stats.ts';
import { heldMemory } from '../support/held-memory.ts';
import type { World } from './world.ts';

/** workerd's memory while nobody asks for anything, MiB. */
export interface Measurement {
  /** What the Worker holds, without garbage. */
  readonly held: number;
  /** Of the whole process, behind the garbage collection. */
  readonly resident: number;
  /** The most that was resident until now. */
  readonly peak: number;
}

/** What may be held more than at the start: caches of keys and of compiled code. A page of a file is 4. */
const HELD_BOUND = 3;
/**
 * By how much what is resident may grow from one part of the load to the next. It is not compared with the start: the
 * allocator (tcmalloc) keeps what was once in use, and uses it again. It grows by up to 120 as the parts' peaks differ; what
 * an export of some MiB would lose outside of V8's sight adds up to more.
 */
const GROWTH_BOUND = 200;

export async function measure({ stack, workerd }: World): Promise<Measurement> {
  const { inspectorUrl } = stack.worker;
  if (!inspectorUrl) throw new Error('the Worker has to be started with its inspector');
  const { peak } = memoryOf(workerd); // before the snapshot, which takes some itself
  const held = await heldMemory(inspectorUrl);
  return { held, resident: memoryOf(workerd).now, peak };
}

/** What is wrong with measurements from before the load and behind its parts, of which the first does not count. */
export function memoryProblems(idle: Measurement, parts: readonly Measurement[]): string[] {
  const [before, last] = parts.slice(-2);
  if (!before || !last) throw new Error('there have to be two parts or more');
  const problems: string[] = [];
  const held = last.held - idle.held;
  if (held > HELD_BOUND)
    problems.push(`the Worker holds ${held.toFixed(1)} MiB more than idle; ${HELD_BOUND} are allowed`);
  const growth = last.resident - before.resident;
  if (growth > GROWTH_BOUND)
    problems.push(`workerd has grown by ${growth.toFixed(0)} MiB in the last part; ${GROWTH_BOUND} are allowed`);
  return problems;
}

export function memoryLines(idle: Measurement, parts: readonly Measurement[]): string[] {
  const all = [idle, ...parts];
  const list = (of: (one: Measurement) => string) => all.map(of).join(', ');
  return [
    'MiB, idle and behind each part:',
    `  ${list(({ held }) => held.toFixed(1))} held by the Worker`,
    `  ${list(({ resident }) => resident.toFixed(0))} resident in workerd, ${list(({ peak }) => peak.toFixed(0))} at its peak`,
  ];
}
