import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

test('a wide export of 240 MB of responses of one participant keeps only those of the record in memory', async () => {
  const worker = new Worker(new URL('../support/wide-held.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 60, maxYoungGenerationSizeMb: 8 },
  });
  expect(await once(worker, 'exit')).toEqual([0]); // rejects with ERR_WORKER_OUT_OF_MEMORY
});
