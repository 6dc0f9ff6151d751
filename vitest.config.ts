import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const emptyText = fileURLToPath(new URL('test/support/empty-text.ts', import.meta.url));

/** The API suite runs once per database: what it says of the service must hold on each. */
const apiOn = (database: 'pglite' | 'postgres') => ({
  test: {
    name: `api on ${database}`,
    include: ['test/api/**/*.test.ts'],
    alias: [{ find: /^.*\/reference\/[\w-]+\.(?:html|css|svg|mjs)$/, replacement: emptyText }],
    globalSetup: [`test/support/stack-on-${database}.ts`],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One service and one database for all files, also beside each other: accounts keep the tests apart.
  },
});

export default defineConfig({
  test: {
    reporters: ['verbose'],
    maxWorkers: 3, // one more than a small machine's cores: many files spend half their time waiting for a time-out or a retry
    globalSetup: ['test/support/run.ts'],
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { test: { name: 'tools', include: ['test/tools/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000 } },
      {
        test: {
          name: 'faults, plans, keys and docs on postgres',
          include: ['test/{faults,plans,auth,docs}/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'fuzz on postgres',
          include: ['test/fuzz/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      apiOn('pglite'),
      apiOn('postgres'),
    ],
  },
});
