import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../support/api.ts';
import { open } from '../../support/export.ts';
import type { Exchange } from '../../support/fault-proxy.ts';
import { pick } from '../../support/random.ts';
import type { Action } from '../context.ts';

/** Longer than workerd takes to notice. */
const NOTICED_MS = 10_000;

/** Closes the connection in the middle of a file, with FIN or RST. */
export const disconnect: Action = async ({ world, tally }, random) => {
  const how = pick(random, ['FIN', 'RST']);
  const response = await open(
    `/responses/${pick(random, ['csv', 'ndjson', 'xlsx'])}${query({ survey: 'many bytes' })}`,
    { key: pick(random, pick(random, world.pair).keys), headers: pick(random, [{}, { 'Accept-Encoding': 'gzip' }]) },
  );
  response.on('error', () => {});
  const enough = random() * 2_000_000;
  let size = 0;
  await new Promise<void>((resolve) => {
    response.on('data', (chunk: Buffer) => (size += chunk.length) >= enough && resolve()).on('close', resolve);
  });
  if (how === 'RST') response.socket.resetAndDestroy();
  else response.destroy();
  tally.pass(`disconnect with ${how}`);
};

/** Resets the connection while the database works on a page: the Worker must cancel the query. */
export const disconnectDuringQuery: Action = async ({ world, proxy, tally }, random) => {
  const name = randomUUID();
  const { promise: held, resolve: hold } = Promise.withResolvers<Exchange>();
  using _ = proxy.watch(name, (exchange) => {
    if (exchange.index < 2) return;
    exchange.hang();
    hold(exchange);
  });
  const response = await open(`/responses/csv${query({ survey: 'many bytes' })}`, {
    key: pick(random, pick(random, world.pair).keys),
    headers: { 'Test-Trial': name },
  });
  response.on('error', () => {}).resume();
  const exchange = await Promise.race([held, once(response, 'close').then(() => undefined)]);
  if (!exchange) return; // refused because of others
  response.socket.resetAndDestroy();
  if ((await Promise.race([exchange.closed, sleep(NOTICED_MS, 'late')])) === 'late')
    throw new Error(`a query runs ${NOTICED_MS / 1000} s after its client disconnected`);
  tally.pass('disconnect during a query');
};
