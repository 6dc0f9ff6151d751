import { setInterval as every, setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from '../../../bench/process-stats.ts';
import { Inspector } from '../../support/inspector.ts';
import type { Context } from '../context.ts';

/** The memory of workerd after a garbage collection, in MiB. */
export interface Measurement {
  /** The Worker's objects and buffers. */
  readonly held: number;
  /** Resident memory of the process; known on Linux only. */
  readonly resident: number | undefined;
  /** The largest resident memory so far. */
  readonly peak: number | undefined;
}

/** Allowed growth of held memory, in MiB: caches of keys and of compiled code. One page of a file would be 4. */
const MAX_HELD_GROWTH = 3;
/**
 * Allowed growth of resident memory from one part of the load to the next, in MiB. It is not compared with the start, because the
 * simulation of KV and rate limits in the same process grows with each request, up to about 900 MiB, whatever the Worker does
 * (docs/trust.md). In ten runs of 30 and 120 seconds, it grew by 19 to 120 MiB, and by more on faster machines.
 */
const MAX_RESIDENT_GROWTH = 256;
const COLLECTION_INTERVAL_MS = 10_000;

/**
 * Measures the memory of workerd, and collects its garbage every 10 seconds: V8 does not count buffers outside its heap, and
 * collects them only after they reach about 200 MiB.
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
    this.#collecting.catch(() => {}); // reported when the watch is disposed of
  }

  static async start({ stack, workerd }: Pick<Context, 'stack' | 'workerd'>): Promise<MemoryWatch> {
    const { inspectorUrl } = stack.worker;
    if (!inspectorUrl) throw new Error('the Worker was started without its inspector');
    return new MemoryWatch(await Inspector.open(inspectorUrl), workerd);
  }

  /** @param idle memory held before the load. Waits a few seconds for it: pages of disconnected readers are freed late */
  async measure(idle = Infinity): Promise<Measurement> {
    let held = await this.#inspector.heldMemory();
    for (let tries = 0; held > idle + MAX_HELD_GROWTH && tries < 5; tries++) {
      await sleep(1000);
      held = await this.#inspector.heldMemory();
    }
    const { now, peak } = this.#workerd === undefined ? {} : memoryOf(this.#workerd);
    return { held, resident: now, peak };
  }

  async #collect(): Promise<void> {
    try {
      for await (const _ of every(COLLECTION_INTERVAL_MS, undefined, this.#ending)) await this.#inspector.heldMemory();
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

/** Compares the last measurement with the idle one (held memory) and with the one before (resident memory). */
export function memoryProblems(idle: Measurement, parts: readonly Measurement[]): string[] {
  const [before, last] = parts.slice(-2);
  if (!before || !last) throw new Error('at least two parts are needed');
  const problems: string[] = [];
  const held = last.held - idle.held;
  if (held > MAX_HELD_GROWTH)
    problems.push(`the Worker holds ${held.toFixed(1)} MiB more than when idle; ${MAX_HELD_GROWTH} are allowed`);
  const growth = (last.resident ?? 0) - (before.resident ?? 0);
  if (growth > MAX_RESIDENT_GROWTH)
    problems.push(`workerd grew by ${growth.toFixed(0)} MiB in the last part; ${MAX_RESIDENT_GROWTH} are allowed`);
  return problems;
}

export function memoryLines(idle: Measurement, parts: readonly Measurement[]): string[] {
  const all = [idle, ...parts];
  const list = (of: (one: Measurement) => string) => all.map(of).join(', ');
  return [
    'MiB, idle and after each part:',
    `  ${list(({ held }) => held.toFixed(1))} held by the Worker`,
    `  ${list(({ resident }) => rounded(resident))} resident in workerd, ${list(({ peak }) => rounded(peak))} at its peak`,
  ];
}

const rounded = (mebibytes: number | undefined) => mebibytes?.toFixed(0) ?? 'unknown';
