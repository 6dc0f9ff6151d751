import { query } from '../../support/api.ts';
import { open } from '../../support/export.ts';
import { pick } from '../../support/random.ts';
import type { Action } from '../context.ts';

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
