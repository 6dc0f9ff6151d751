import { describe, expect, test } from 'vitest';
import { errorBody } from '../support/api.ts';
import { createAccount } from '../support/data.ts';
import { MINUTE, SECOND, authenticate, revokeInDatabase, withKeyService } from './service.ts';

const HOUR = 60 * MINUTE;

describe('while the database cannot be reached', () => {
  describe('in one isolate', () => {
    const service = withKeyService();
    const reset = () => service.countKeyQueries((exchange) => exchange.reset());
    test('a key in use goes on being accepted for a day, and not longer', async () => {
      const { key } = await createAccount();
      await authenticate(key);
      await expect.poll(() => service.cached(key)).not.toBeNull();
      const checked = Number((await service.cached(key))?.['checked']);
      reset();
      expect((await authenticate(key)).status).toBe(404);
      expect((await authenticate(key, checked + 24 * HOUR - MINUTE - Date.now())).status).toBe(404);
      expect((await authenticate(key, checked + 24 * HOUR - Date.now())).status).toBe(503);
    });
  });

  describe('in one isolate', () => {
    const service = withKeyService();
    const reset = () => service.countKeyQueries((exchange) => exchange.reset());
    test('an old entry is believed without asking for some seconds after the database did not answer, and no longer', async () => {
      const { key } = await createAccount();
      await authenticate(key);
      await expect.poll(() => service.cached(key)).not.toBeNull();
      const queries = reset();
      expect((await authenticate(key, 10 * MINUTE)).status).toBe(404);
      const { lookUps } = queries;
      expect(lookUps).toBeGreaterThan(1);
      for (let i = 0; i < 5; i++) expect((await authenticate(key, 10 * MINUTE)).status).toBe(404);
      expect(queries.lookUps).toBe(lookUps);

      service.proxy.inject();
      await revokeInDatabase(key);
      await expect.poll(async () => (await authenticate(key, 10 * MINUTE + 10 * SECOND)).status).toBe(401);
    });
  });

  describe('in one isolate', () => {
    const service = withKeyService();
    const reset = () => service.countKeyQueries((exchange) => exchange.reset());
    test('a key that is not in the cache gets 503: nobody knows whether it is good', async () => {
      const { key } = await createAccount();
      reset();
      const answer = await authenticate(key);
      expect([answer.status, answer.text]).toEqual([
        503,
        errorBody('The database cannot be reached at the moment. Please try again shortly.'),
      ]);
      service.proxy.inject();
      expect((await authenticate(key)).status).toBe(404);
    });
  });
});
