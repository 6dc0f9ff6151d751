import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Used only by `npm run fuzz`. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    reporters: ['verbose'],
    globalSetup: ['test/support/run.ts'],
    include: ['test/fuzz/*.fuzz.ts'],
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
