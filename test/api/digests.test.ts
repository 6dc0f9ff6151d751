import { expect, test } from 'vitest';
import type { Digests } from '../../src/db/digests.ts';
import { addResponses, createAccount, createBulkSurvey } from '../support/data.ts';
import { expectError, get } from './requests.ts';

test('there are up to 20,000 digests', async () => {
  const columns = { timestamp: `timestamptz '2020-01-01Z' + n * interval '1 hour'` };
  const long = await createBulkSurvey(await createAccount(), { rows: 20_000, forms: 1, columns });
  const most = await get('/responses/digests', long, { interval: 'hour' });
  expect([most.status, (JSON.parse(most.text) as Digests).digests.length]).toEqual([200, 20_000]);
  await addResponses(long, [{ timestamp: '2019-12-31T23:00:00Z' }]);
  const message =
    'This selection has too many intervals to return at once. Narrow it with since and until, or use a longer interval.';
  expectError(
    await get('/responses/digests', long, { interval: 'hour' }),
    400,
    'export_too_large',
    message,
  );
  expect((await get('/responses/digests', long)).status).toBe(200);
});
