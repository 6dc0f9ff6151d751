import { beforeAll, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { createAccount } from '../support/data.ts';
import { eventsIn, lineOf } from '../support/request-log.ts';
import { MINUTE, authenticate, revokeInDatabase, withKeyService } from './service.ts';

const service = withKeyService();
beforeAll(async () => void (await ask('/surveys'))); // with the first answer the description is asked for, to hold it against
const logged = (key: string, ahead = 0) => lineOf(service.worker, () => authenticate(key, ahead));

test('an entry of the cache is a hit for five minutes, then stale, whether the database answers or not', async () => {
  const { key, id } = await createAccount();
  expect((await logged(key)).line).toMatchObject({ keyCache: 'miss', accountId: id, status: 404 });
  await expect.poll(() => service.cached(key)).not.toBeNull();
  expect((await logged(key)).line).toMatchObject({ keyCache: 'hit', accountId: id });
  expect((await logged(key, 6 * MINUTE)).line).toMatchObject({ keyCache: 'stale', accountId: id });

  const queries = service.countKeyQueries((exchange) => exchange.reset());
  const { line, result } = await logged(key, 12 * MINUTE);
  expect(line).toMatchObject({ keyCache: 'stale', accountId: id, status: 404, end: 'complete' });
  expect([line.sqlRequests, line.retries]).toEqual([queries.lookUps, queries.lookUps - 1]);
  expect(queries.lookUps).toBeGreaterThan(1);
  const requestId = result.headers.get('X-Request-Id');
  expect(eventsIn(service.worker, 'key look-up failed')).toEqual([expect.objectContaining({ requestId })]);
});

test('a key that is refused without a look into the cache has none to show, and belongs to nobody', async () => {
  const { key } = await createAccount();
  await revokeInDatabase(key);
  expect((await logged(key)).line).toMatchObject({ keyCache: 'miss', accountId: null, keyId: null, status: 401 });
  const { line } = await logged(key);
  expect(line).toMatchObject({ keyCache: null, accountId: null, keyId: null, status: 401, sqlRequests: 0 });
});
