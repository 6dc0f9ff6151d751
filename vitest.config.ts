import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const emptyText = fileURLToPath(new URL('test/support/empty-text.ts', import.meta.url));

/** For files that start servers and commands. */
const timeouts = { testTimeout: 120_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    reporters: ['verbose'],
    maxWorkers: 3, // one more than a small machine's cores: many files spend half their time waiting for a timeout or a retry
    globalSetup: ['test/support/run.ts'],
    projects: [
      // The files share nothing but imports.
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false, testTimeout: 60_000 } },
      { test: { name: 'tools', include: ['test/tools/**/*.test.ts'], ...timeouts } },
      {
        test: {
          name: 'api',
          include: ['test/api/**/*.test.ts'],
          alias: [{ find: /^.*\/reference\/[\w-]+\.(?:html|css|svg|mjs)$/, replacement: emptyText }],
          globalSetup: ['test/support/shared-stack.ts'], // all files share one service; each test has its own accounts
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { test: { name: 'service', include: ['test/{faults,plans,auth,docs,fuzz}/**/*.test.ts'], ...timeouts } },
    ],
  },
});
