import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

process.env['TEST_PGBOUNCER'] = 'yes'; // see test/support/stack.ts

/** npm run pgbouncer: the API tests, and those in this folder, with PgBouncer between the SQL-over-HTTP endpoint and Postgres. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    maxWorkers: 5,
    globalSetup: ['test/support/once-per-run.ts', 'test/support/stack.ts'],
    include: ['test/api/**/*.test.ts', 'test/pgbouncer/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
