import fc from 'fast-check';

const { FUZZ_SEED = '1', FUZZ_SECONDS = '30' } = process.env;
const LIMIT_MS = Number(FUZZ_SECONDS) * 1000;

/** Timeout of a property: its duration, plus time for the last case. */
export const TIMEOUT_MS = LIMIT_MS + 120_000;

/** Checks a property with the duration and the seed given to `npm run fuzz`. */
export async function checkProperty<T>(
  arbitrary: fc.Arbitrary<T>,
  predicate: (value: T) => Promise<void>,
): Promise<void> {
  let last: Promise<void> | undefined;
  const property = fc.asyncProperty(arbitrary, (value) => (last = predicate(value)));
  await fc.assert(property, {
    seed: Number(FUZZ_SEED),
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: LIMIT_MS,
    endOnFailure: true, // shrinking takes minutes, and requests are readable without it
    includeErrorInReport: true,
  });
  await last; // fast-check does not wait for the case that the time limit interrupts
}
