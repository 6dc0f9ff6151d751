import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { sql, storeKey } from '../support/data.ts';
import { pick } from '../support/random.ts';
import { read, send } from './request.ts';
import { insertRows } from './rows.ts';
import { type Tenant, type World, fail, pass } from './world.ts';

const INSERTED_ROWS = 60;

export async function insertResponses(world: World, tenant: Tenant): Promise<void> {
  tenant.storing = tenant.stored + INSERTED_ROWS;
  await insertRows(tenant.survey, tenant.letter, tenant.stored, tenant.storing);
  tenant.stored = tenant.storing;
  pass(world, 'inserts');
}

/** Closes the connection in the middle of a file. */
export async function disconnect(world: World, tenant: Tenant, how: 'FIN' | 'RST'): Promise<void> {
  const path = pick(world.random, ['/responses/csv', '/responses/ndjson']);
  const headers = pick(world.random, [{}, { 'Accept-Encoding': 'gzip' }]);
  const response = await send(path, { survey: tenant.survey.name }, tenant.account.key, headers);
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  response.on('error', () => {});
  const enough = world.random() * 2_000_000;
  let size = 0;
  await new Promise<void>((resolve) => {
    response.on('data', (chunk: Buffer) => (size += chunk.length) >= enough && resolve()).on('close', resolve);
  });
  if (how === 'RST') response.socket.resetAndDestroy();
  else response.destroy();
  pass(world, `disconnects with ${how}`);
}

/** Sends a key that is malformed or unknown. */
export async function tryInvalidKey(world: World, tenant: Tenant): Promise<void> {
  const key = pick(world.random, [generateApiKey(), `${tenant.account.key.slice(0, -1)}!`, 'sres_', 'x']);
  const response = await send('/responses/csv', { survey: tenant.survey.name }, key);
  const text = await read(response);
  if (response.statusCode === 401 && !text.includes('#')) pass(world, 'invalid keys refused');
  else fail(world, `an invalid key: status ${response.statusCode}`);
}

/** Issues a key, uses it, revokes it and uses it again. */
export async function replaceKey(world: World, tenant: Tenant): Promise<void> {
  const key = generateApiKey();
  await storeKey(tenant.account.id, key);
  const page = await send('/responses', { survey: tenant.survey.name, pageSize: 100 }, key);
  const letters = new Set(Array.from((await read(page)).matchAll(/#(\w+):\d+#/g), ([, letter]) => letter));
  if (page.statusCode !== 200 || letters.size !== 1 || !letters.has(tenant.letter))
    return fail(world, `a new key: status ${page.statusCode}, responses of ${[...letters].join()}`);

  const hash = await hashApiKey(key);
  await untilCached(world, hash);
  await sql('update api_keys set revoked = now() where hash = $1', [hash]);
  await world.stack.worker.keys.delete(hash);
  const refused = await send('/responses', { survey: tenant.survey.name }, key);
  await read(refused);
  if (refused.statusCode === 401) pass(world, 'keys issued and revoked');
  else fail(world, `a revoked key: status ${refused.statusCode}`);
}

/** The Worker writes a key's KV entry after its response. */
async function untilCached(world: World, hash: string): Promise<void> {
  for (const deadline = Date.now() + 10_000; (await world.stack.worker.keys.get(hash)) === null; await sleep(20)) {
    if (Date.now() > deadline) return fail(world, 'a used key is not in the cache after 10 s');
  }
}
