import { defineConfig } from 'vitest/config';

/**
 * Longer than anything takes on a machine under load. A test that measures time sets its own limit.
 */
const timeouts = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // each look at a page takes some milliseconds of CPU
  expect: { poll: { timeout: 30_000, interval: 100 } },
};

const sharedServer = 'test/support/database.ts';

export default defineConfig({
  test: {
    reporters: ['verbose'],
    // many files spend half their time waiting for a timeout, a retry or another process
    maxWorkers: 5,
    globalSetup: ['test/support/once-per-run.ts', 'test/support/needed-programs.ts'],
    // Run in the order of their names. The longest files come in the middle, so that short ones
    // fill the end.
    projects: [
      // The files share nothing but imports.
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false, ...timeouts } },
      {
        test: {
          name: 'commands',
          isolate: false,
          include: ['test/tools/**/*.test.ts'],
          globalSetup: [sharedServer],
          ...timeouts,
        },
      },
      {
        test: {
          name: 'gateway', // one of its files sets what is read when miniflare is imported
          include: ['test/gateway/**/*.test.ts'],
          globalSetup: [sharedServer],
          ...timeouts,
        },
      },
      {
        test: {
          name: 'api',
          isolate: false,
          include: ['test/api/**/*.test.ts'],
          // all files share one service; each test has its own accounts
          globalSetup: [sharedServer, 'test/support/stack.ts'],
          ...timeouts,
        },
      },
      {
        test: {
          name: 'site',
          include: ['test/site/**/*.test.ts'],
          isolate: false,
          // All files share one service, and those of a process one browser; each test has its own
          // accounts and browser context.
          globalSetup: [sharedServer, 'test/support/stack.ts', 'test/support/chromium.ts'],
          ...timeouts,
        },
      },
      {
        test: {
          name: 'service',
          isolate: false,
          include: ['test/{faults,plans,auth}/**/*.test.ts'],
          globalSetup: [sharedServer],
          ...timeouts,
        },
      },
      // npm run pgbouncer: these and the API tests, with PgBouncer between the SQL-over-HTTP
      // endpoint and Postgres.
      ...(process.env['TEST_PGBOUNCER']
        ? [{ test: { name: 'pgbouncer', include: ['test/pgbouncer/*.test.ts'], ...timeouts } }]
        : []),
    ],
  },
});
