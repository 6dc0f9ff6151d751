import { expect, test } from 'vitest';
import { withFaultyService } from '../faults/service.ts';
import { fetchApi } from '../support/api.ts';
import { createAccount } from '../support/data.ts';

const service = withFaultyService({ limits: { FAILURE_LIMIT: 2 } });

test.each(['rejects', 'hangs'])(
  'if KV %s, an isolate relies on its own check: a key takes one query and counts once',
  async (fault) => {
    const { key } = await createAccount();
    const headers = { 'Test-Key-Cache': fault, 'CF-Connecting-IP': '192.0.2.1' };
    service.proxy.inject();
    expect((await fetchApi('/nothing-here', { key, headers })).status).toBe(404);
    const requests = Array.from({ length: 10 }, () => fetchApi('/nothing-here', { key, headers }));
    for (const { status } of await Promise.all(requests)) expect(status).toBe(404);
    expect(service.proxy.requests).toBe(2); // the lookup, and last_used
  },
);
