import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { sql, storeKey } from '../support/data.ts';
import { pick } from '../support/random.ts';
import { begin, read } from './request.ts';
import { insertRows } from './rows.ts';
import { type Side, type World, complain, count } from './world.ts';

/** Rows that arrive at once. */
const BATCH = 60;

/** Stores more responses. */
export async function write(world: World, side: Side): Promise<void> {
  side.storing = side.stored + BATCH;
  await insertRows(side.survey, side.owner, side.stored, side.storing);
  side.stored = side.storing;
  count(world, 'inserts');
}

/** Begins a file and goes, with a FIN or with a RST. */
export async function leave(world: World, side: Side, how: 'FIN' | 'RST'): Promise<void> {
  const path = pick(Math.random, ['/responses/csv', '/responses/ndjson']);
  const headers = pick(Math.random, [{}, { 'Accept-Encoding': 'gzip' }]);
  const response = await begin(path, { survey: side.survey.name }, side.account.key, headers);
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  response.on('error', () => {});
  const least = Math.random() * 2_000_000;
  let size = 0;
  await new Promise<void>((resolve) => {
    response.on('data', (chunk: Buffer) => (size += chunk.length) >= least && resolve()).on('close', resolve);
  });
  if (how === 'RST') response.socket.resetAndDestroy();
  else response.destroy();
  count(world, `readers that left by ${how}`);
}

/** Asks with what is no key, or nobody's. */
export async function intrude(world: World, side: Side): Promise<void> {
  const key = pick(Math.random, [generateApiKey(), `${side.account.key.slice(0, -1)}!`, 'sres_', 'x']);
  const response = await begin('/responses/csv', { survey: side.survey.name }, key);
  const text = await read(response);
  if (response.statusCode !== 401 || text.includes('#')) complain(world, `a bad key: status ${response.statusCode}`);
  count(world, 'bad keys refused');
}

/** A key's entry is written behind the response to its first request. */
async function untilCached(world: World, hash: string): Promise<void> {
  for (const deadline = Date.now() + 10_000; (await world.stack.worker.keys.get(hash)) === null; await sleep(20)) {
    if (Date.now() > deadline) return complain(world, 'a key that was used is not in the cache after 10 s');
  }
}

/** Issues a key, uses it, revokes it, and tries it once more. */
export async function changeKeys(world: World, side: Side): Promise<void> {
  const key = generateApiKey();
  await storeKey(side.account.id, key);
  const page = await begin('/responses', { survey: side.survey.name, pageSize: 100 }, key);
  const text = await read(page);
  const owners = new Set(Array.from(text.matchAll(/#(\w+):\d+#/g), ([, owner]) => owner));
  if (page.statusCode !== 200 || owners.size !== 1 || !owners.has(side.owner))
    complain(world, `a new key: status ${page.statusCode}, responses of ${[...owners].join()}`);
  const hash = await hashApiKey(key);
  await untilCached(world, hash);
  await sql('update api_keys set revoked = now() where hash = $1', [hash]);
  await world.stack.worker.keys.delete(hash);
  const refused = await begin('/responses', { survey: side.survey.name }, key);
  await read(refused);
  if (refused.statusCode !== 401) complain(world, `a revoked key: status ${refused.statusCode}`);
  count(world, 'keys issued and revoked');
}
