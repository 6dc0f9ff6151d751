import { setInterval as every, setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from '../../../bench/process-stats.ts';
import { heldMemory } from '../../support/inspector.ts';
import type { Context } from '../context.ts';

/** The memory of workerd after a garbage collection, in MiB. */
interface Measurement {
  /** The Worker's objects and buffers. */
  readonly held: number;
  /** Resident memory of the process; 0 if unknown, on systems other than Linux. */
  readonly resident: number;
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
 * Collects the garbage of workerd until `signal` is aborted: V8 does not count buffers outside its heap, and collects them only after
 * they reach about 200 MiB.
 */
export async function collectGarbage({ stack }: Context, signal: AbortSignal): Promise<void> {
  try {
    for await (const _ of every(COLLECTION_INTERVAL_MS, undefined, { signal })) await heldMemory(stack.worker);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** @param idle memory held before the load. Waits a few seconds for it: pages of disconnected readers are freed late */
export async function measureMemory({ stack, workerd }: Context, idle = Infinity): Promise<Measurement> {
  let held = await heldMemory(stack.worker);
  for (let tries = 0; held > idle + MAX_HELD_GROWTH && tries < 5; tries++) {
    await sleep(1000);
    held = await heldMemory(stack.worker);
  }
  return { held, resident: workerd === undefined ? 0 : memoryOf(workerd).now };
}

/** Compares the last measurement with the idle one (held memory) and with the one before (resident memory). */
export function checkMemory({ tally }: Context, measured: readonly Measurement[]): void {
  const [idle, before, last] = measured as [Measurement, Measurement, Measurement];
  const held = last.held - idle.held;
  const resident = last.resident - before.resident;
  const found = `the Worker holds ${held.toFixed(1)} MiB more than when idle, and workerd grew by ${resident.toFixed(0)} MiB in the second part`;
  const isBounded = held <= MAX_HELD_GROWTH && resident <= MAX_RESIDENT_GROWTH;
  if (isBounded) tally.pass(`memory: ${found}`);
  else tally.fail(`${found}; ${MAX_HELD_GROWTH} and ${MAX_RESIDENT_GROWTH} are allowed`);
}
