import { setInterval as every, setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from '../../bench/process-stats.ts';
import { Inspector } from '../support/inspector.ts';
import type { World } from './world.ts';

/** workerd's memory behind a garbage collection, MiB. */
export interface Measurement {
  /** What the Worker holds. */
  readonly held: number;
  /** Of the whole process; known on Linux alone. */
  readonly resident: number | undefined;
  /** The most that was resident until now. */
  readonly peak: number | undefined;
}

/** What may be held more than at the start: caches of keys and of compiled code. A page of a file is 4. */
const HELD_BOUND = 3;
/**
 * By how much what is resident may grow from one part of the load to the next. It is not compared with the start: the
 * simulation of KV and rate limits in the same process makes it grow with each request, also under a Worker that does nothing
 * else, and it levels off at some 900 only (docs/trust.md). In ten runs of 30 and 120 seconds it grew by 19 to 120, and it
 * grows by more where more requests are answered in that time.
 */
const GROWTH_BOUND = 256;
const COLLECTION_MS = 10_000;

/**
 * Watches workerd's memory. Now and then it has the garbage collected: what V8 sees of a request's objects is small, and
 * left to itself it lets 200 MiB of them gather outside of its heap.
 */
export class MemoryWatch implements AsyncDisposable {
  readonly #inspector: Inspector;
  readonly #workerd: number | undefined;
  readonly #ending = new AbortController();
  readonly #collecting: Promise<void>;

  private constructor(inspector: Inspector, workerd: number | undefined) {
    this.#inspector = inspector;
    this.#workerd = workerd;
    this.#collecting = this.#collect();
    this.#collecting.catch(() => {}); // the end of the watch tells of it
  }

  static async start({ stack, workerd }: World): Promise<MemoryWatch> {
    const { inspectorUrl } = stack.worker;
    if (!inspectorUrl) throw new Error('the Worker has to be started with its inspector');
    return new MemoryWatch(await Inspector.open(inspectorUrl), workerd);
  }

  /** @param idle what is held otherwise: pages of readers that have just gone may take a moment to go, too */
  async measure(idle = Infinity): Promise<Measurement> {
    let held = await this.#inspector.heldMemory();
    for (let tries = 0; held > idle + HELD_BOUND && tries < 5; tries++) {
      await sleep(1000);
      held = await this.#inspector.heldMemory();
    }
    const { now, peak } = this.#workerd === undefined ? {} : memoryOf(this.#workerd);
    return { held, resident: now, peak };
  }

  async #collect(): Promise<void> {
    try {
      for await (const _ of every(COLLECTION_MS, undefined, this.#ending)) await this.#inspector.heldMemory();
    } catch (error) {
      if (!this.#ending.signal.aborted) throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#collecting;
    this.#inspector[Symbol.dispose]();
  }
}

/** What is wrong with measurements from before the load and behind its parts, of which the first does not count. */
export function memoryProblems(idle: Measurement, parts: readonly Measurement[]): string[] {
  const [before, last] = parts.slice(-2);
  if (!before || !last) throw new Error('there have to be two parts or more');
  const problems: string[] = [];
  const held = last.held - idle.held;
  if (held > HELD_BOUND)
    problems.push(`the Worker holds ${held.toFixed(1)} MiB more than idle; ${HELD_BOUND} are allowed`);
  const growth = (last.resident ?? 0) - (before.resident ?? 0);
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
    `  ${list(({ resident }) => whole(resident))} resident in workerd, ${list(({ peak }) => whole(peak))} at its peak`,
  ];
}

const whole = (number: number | undefined) => number?.toFixed(0) ?? 'unknown';
