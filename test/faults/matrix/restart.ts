import { setTimeout as sleep } from 'node:timers/promises';
import type { MatrixFault } from './faults.ts';

/** A restart of the database that several trials share, each during one of its requests. */
export interface SharedRestart {
  /** Holds a request until all trials have one, then forwards it while the database stops. */
  readonly fault: MatrixFault;
  /** Settles with the restart. Rejects if not all trials were part of it. */
  done(): Promise<void>;
}

/** Longer than all trials take to become ready. */
const READY_MS = 10_000;

/** @param trials the number of trials */
export function sharedRestart(trials: number, restart: () => Promise<void>): SharedRestart {
  const ready = Promise.withResolvers<void>();
  let restarting: Promise<void> | undefined;
  let arrived = 0;
  return {
    fault: {
      name: 'a restart',
      refusals: [],
      async inject(_, random) {
        if (++arrived === trials) ready.resolve();
        await Promise.race([ready.promise, sleep(READY_MS)]);
        restarting ??= restart();
        await sleep(20 * random()); // some requests arrive while it stops, some after
      },
    },
    async done() {
      if (!restarting || arrived < trials) throw new Error(`${arrived} of ${trials} trials were part of the restart`);
      await restarting;
    },
  };
}
