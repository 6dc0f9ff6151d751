import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const emptyText = fileURLToPath(new URL('../support/empty-text.ts', import.meta.url));

/** Used only by `npm run pgbouncer`. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    maxWorkers: 5,
    globalSetup: ['test/support/run.ts', 'test/pgbouncer/shared-stack.ts'],
    include: ['test/api/**/*.test.ts', 'test/pgbouncer/*.test.ts'],
    alias: [{ find: /^.*\/pages\/[\w/-]+\.(?:html|css|svg|mjs)$/, replacement: emptyText }],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
