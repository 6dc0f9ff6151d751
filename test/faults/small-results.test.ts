import { expect, test } from 'vitest';
import { connect } from '../../src/db/client.ts';
import { QueryStats } from '../../src/db/query-stats.ts';
import { sql } from '../../src/db/sql.ts';
import { csvEncoder } from '../../src/encode/csv.ts';
import { RequestLease, memory } from '../../src/limits/limits.ts';
import { startGateway } from '../../gateway/server.ts';
import { startDatabase } from '../support/database.ts';
import { TOKEN } from '../support/sql-endpoint.ts';
import { workerVariables } from '../support/stack.ts';

test('a page without memory at the moment is read with fewer rows if it is large, and waits if it is small', async () => {
  const database = await startDatabase();
  const gateway = await startGateway({ database: database.url, token: TOKEN, connections: 2 });
  const lease = new RequestLease('account');
  const db = connect(workerVariables(gateway), new QueryStats(), () => lease);
  const { signal } = new AbortController();
  const taken = await lease.acquire(memory, memory.roomFor('account') - 1000, signal);
  const encode = csvEncoder({ columns: 1, keyColumns: [] });
  const read = (characters: number) =>
    db.page(
      { text: sql`select repeat('x', ${characters}::int)` },
      { signal, canBeSmaller: true },
      encode,
    );

  await expect(read(100_000)).rejects.toMatchObject({ kind: 'too-large' });
  const small = read(4000);
  await expect.poll(() => memory.isAwaited).toBe(true);
  taken.release();
  expect((await small).rowCount).toBe(1);
  lease.end();
  await gateway.close({ now: true });
  await database.stop();
});
