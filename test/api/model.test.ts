import { expect, test } from 'vitest';
import { render } from '../../src/db/sql.ts';
import { recordsQuery } from '../../src/db/xlsx-limits.ts';
import { checkModel } from '../chaos/checks/quiet.ts';
import { read } from '../chaos/checks/read.ts';
import { type Context, Tally } from '../chaos/context.ts';
import { formsOf } from '../chaos/expected/select.ts';
import { isSized } from '../chaos/model/random-data.ts';
import { World } from '../chaos/model/world.ts';
import { writes } from '../chaos/model/writes.ts';
import { randomParameters } from '../chaos/requests/parameters.ts';
import { PATHS, type Path, type Request } from '../chaos/requests/request.ts';
import { csvRecords } from '../support/csv.ts';
import { sql } from '../support/data.ts';
import { pick, randomFrom } from '../support/random.ts';

/*
 * Random requests of accounts whose surveys have the same names. The model of `npm run chaos`
 * computes each response without SQL, and checks what holds for all: that it has nothing of another
 * account, conforms to /openapi.json, and has the right headers.
 */

const REQUESTS = 30;
/** Those of `/responses/answers`, whose parameters have many combinations. */
const ANSWERS_REQUESTS = 120;
/** Leaves nobody out, so that there are more groups than are listed. */
const EVERYBODY = {
  since: undefined,
  until: undefined,
  userid: undefined,
  require_metadata: undefined,
  require_question: undefined,
};
const LAYOUTS = ['long', 'wide'] as const;
const kinds = PATHS.flatMap((path): [Path, (typeof LAYOUTS)[number]][] =>
  LAYOUTS.slice(0, /csv|xlsx/.test(path) ? 2 : 1).map((layout) => [path, layout]),
);

const seed = Date.now() % 1_000_000;
const random = randomFrom(seed);
const world = new World(random);
await world.store(random);
// Reading needs no more of it.
const context = {
  world,
  tags: new Map(),
  served: new Map(),
  tally: new Tally(),
} as Partial<Context> as Context;

/**
 * A request for any of an account's small surveys, to count answers also for one with more rows, or
 * for one that it does not have, whose filters and cursors may name rows of other accounts.
 */
function randomRequest(path: Path, layout: (typeof LAYOUTS)[number]): Request {
  const account = pick(random, world.accounts.slice(0, 3));
  const small = account.data.forms.map(({ survey }) => survey).filter((name) => !isSized(name));
  const hasMany = path === '/responses/answers' && random() < 0.5;
  const names = hasMany ? ['few rows'] : [...small, 'nobody’s'];
  return {
    account,
    path,
    parameters: {
      ...randomParameters(random, path, pick(random, names), world.accounts, layout),
      ...(hasMany && EVERYBODY),
    },
  };
}

test.each(kinds)(
  `%s is what a model computes, whatever the rows and parameters: %s, seed ${seed}`,
  async (path, layout) => {
    const requests = path === '/responses/answers' ? ANSWERS_REQUESTS : REQUESTS;
    for (let i = 0; i < requests; i++) {
      const request = randomRequest(path, layout);
      const { account } = request;
      if (random() < 0.2)
        await writes[pick(random, Object.keys(writes))]?.(random, account, context.world);
      const reading = {
        key: pick(random, account.keys),
        gzip: random() < 0.5,
      };
      const { headers, outcome } = await read(context, request, {
        ...reading,
        tag: pick(random, [...context.tags.keys()]),
      });
      expect(outcome).toBe('whole');
      const tag = headers.get('ETag');
      if (tag !== null) await read(context, request, { ...reading, tag });
    }
  },
);

test(`the records of a workbook’s wide table are counted as a wide file has them, seed ${seed}`, async () => {
  for (let i = 0; i < REQUESTS; i++) {
    const request = randomRequest('/responses/csv', 'wide');
    const { account, path } = request;
    const { survey, repeats, require_metadata, require_question } = request.parameters;
    const parameters = {
      survey,
      layout: 'wide',
      repeats,
      require_metadata,
      require_question,
    } as const;
    const { status, bytes } = await read(
      context,
      { account, path, parameters },
      { key: account.keys[0] ?? '' },
    );
    const formVersions = formsOf(parameters, account.data);
    const query = recordsQuery(
      { survey: { accountId: account.id, name: survey, limits: null }, formVersions },
      parameters,
    );
    const { text, params } = render(query.text);
    const [row] = await sql<{ count: string }>(text, [...params]);
    expect(Number(row?.count)).toBe(status === 200 ? csvRecords(bytes).length - 1 : 0);
  }
});

test('the model equals the output of COPY', async () => {
  await checkModel(context);
  expect(context.tally.problems).toEqual([]);
});
