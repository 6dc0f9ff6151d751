import { setTimeout as sleep } from 'node:timers/promises';
import type { MatrixFault } from './faults.ts';

/** A restart of the database that several trials meet, each at a request of its own. */
export interface SharedRestart {
  /** Holds the request back until all are there, and lets it go as the database stops. */
  readonly fault: MatrixFault;
  /** Settles with the restart. Rejects when there was none. */
  done(): Promise<void>;
}

/** Longer than it takes until all are there. */
const MEETING_MS = 10_000;

/** @param trials how many will meet it */
export function sharedRestart(trials: number, restart: () => Promise<void>): SharedRestart {
  const met = Promise.withResolvers<void>();
  let restarting: Promise<void> | undefined;
  let arrived = 0;
  return {
    fault: {
      name: 'a restart',
      refusals: [],
      async spoil(_, random) {
        if (++arrived === trials) met.resolve();
        await Promise.race([met.promise, sleep(MEETING_MS)]);
        restarting ??= restart();
        await sleep(20 * random()); // some while it stops, some when it has
      },
    },
    async done() {
      if (!restarting || arrived < trials) throw new Error(`${arrived} of ${trials} trials met the restart`);
      await restarting;
    },
  };
}
