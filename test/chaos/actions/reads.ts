import { query } from '../../support/api.ts';
import { open } from '../../support/export.ts';
import { type Random, pick } from '../../support/random.ts';
import { type Reading, read } from '../checks/read.ts';
import type { Action, Context } from '../context.ts';
import type { Account } from '../model/account.ts';
import { isSized } from '../model/random-data.ts';
import { randomParameters } from '../requests/parameters.ts';
import { PATHS, type Path, type Request } from '../requests/request.ts';

/** What programs request most is here more than once. */
const READ: readonly Path[] = [
  ...PATHS,
  '/surveys',
  '/responses',
  '/responses',
  '/responses/csv',
  '/responses/csv',
];

/** The name of one of the account's small surveys, another account's, or nobody's. */
function someSurvey(random: Random, { world: { names } }: Context, { data }: Account): string {
  const own = pick(random, data.forms)?.survey;
  const isSmall = own !== undefined && !isSized(own);
  return isSmall && random() < 0.8 ? own : pick(random, [...names, 'nobody’s']);
}

async function readAs(
  context: Context,
  random: Random,
  request: Request,
  reading: Partial<Reading>,
) {
  const { status, headers } = await read(context, request, {
    key: pick(random, request.account.keys),
    gzip: random() < 0.5,
    ...(random() < 0.1 ? { method: 'HEAD' as const } : {}),
    ...reading,
  });
  const wide = request.parameters.layout === 'wide' ? ' wide' : '';
  context.tally.pass(`read: ${request.path}${wide} ${status}`);
  return headers.get('ETag') ?? undefined;
}

/**
 * Requests anything of a small survey for all accounts at the same time, sometimes with the tag of
 * another response, and then with its own.
 */
export const readSmall: Action = async (context, random) => {
  const { world, tags } = context;
  const survey = someSurvey(random, context, pick(random, world.accounts));
  const path = pick(random, READ);
  const parameters = randomParameters(random, path, survey, world.accounts);
  const all = world.accounts.map(async (account) => {
    const request = { account, path, parameters };
    const other = random() < 0.3 ? pick(random, [...tags.keys()]) : undefined;
    const tag = await readAs(context, random, request, { tag: other });
    if (tag !== undefined) await readAs(context, random, request, { tag, method: 'GET' });
  });
  for (const one of await Promise.allSettled(all)) if (one.status === 'rejected') throw one.reason;
};

/** Closes the connection in the middle of a file, with FIN or RST. */
export const disconnect: Action = async ({ world, tally }, random) => {
  const how = pick(random, ['FIN', 'RST']);
  const response = await open(
    `/responses/${pick(random, ['csv', 'ndjson', 'xlsx'])}${query({ survey: 'many bytes' })}`,
    {
      key: pick(random, pick(random, world.pair).keys),
      headers: pick(random, [{}, { 'Accept-Encoding': 'gzip' }]),
    },
  );
  response.on('error', () => {});
  const enough = random() * 2_000_000;
  let size = 0;
  await new Promise<void>((resolve) => {
    response
      .on('data', (chunk: Buffer) => (size += chunk.length) >= enough && resolve())
      .on('close', resolve);
  });
  if (how === 'RST') response.socket.resetAndDestroy();
  else response.destroy();
  tally.pass(`disconnect with ${how}`);
};
