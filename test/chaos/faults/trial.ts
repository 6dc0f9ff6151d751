import { randomUUID } from 'node:crypto';
import { type Random, below, pick } from '../../support/random.ts';
import { read } from '../checks/read.ts';
import type { Action, Context } from '../context.ts';
import type { Account } from '../model/account.ts';
import type { Sized } from '../model/random-data.ts';
import { randomParameters } from '../requests/parameters.ts';
import { PATHS, type Path, type Request } from '../requests/request.ts';
import type { InjectedFault, SqlResult } from './fault.ts';
import { lies } from './lies.ts';
import { lasting, passing } from './visible.ts';

/** A kind of requests, which every fault is combined with. */
interface Kind {
  readonly path: Path;
  readonly survey: Sized;
  /** The SQL endpoint's limit for a result. */
  readonly maxBytes: number;
}

const FILES: readonly Path[] = ['/responses/csv', '/responses/ndjson', '/responses/xlsx'];
const KINDS: readonly Kind[] = [
  // A few requests to the database.
  ...PATHS.map((path) => ({ path, survey: 'few rows', maxBytes: Infinity }) as const),
  // Many requests to the database, one after another.
  ...['/responses' as const, ...FILES].map(
    (path) => ({ path, survey: 'few rows', maxBytes: 100_000 }) as const,
  ),
  // Many requests to the database, in parallel.
  ...FILES.map((path) => ({ path, survey: 'many bytes', maxBytes: Infinity }) as const),
  // Many requests in parallel, for pages that several queries plan. Excel takes no texts that long.
  ...FILES.slice(0, 2).map((path) => ({ path, survey: 'many pages', maxBytes: 500_000 }) as const),
];

const faults = [...passing, ...lasting, ...lies];

/** Sends a request of some kind, with a fault at one of its requests to the database. */
export const tryFault: Action = async (context, random) => {
  const { world, tally } = context;
  const kind = pick(random, KINDS);
  const { path, survey } = kind;
  const [account, other] = (random() < 0.5 ? world.pair : world.pair.toReversed()) as [
    Account,
    Account,
  ];
  const request = { account, path, parameters: randomParameters(random, path, survey, [account]) };
  // a new key is looked up too
  const isNew = path === '/key' || random() < 0.05;
  const key = isNew ? await world.issueKey(account) : pick(random, account.keys);
  // With more than one, the first may prevent the request that another one is planned for.
  const planned = Array.from({ length: random() < 0.25 ? 3 : 1 }, () =>
    pick(random, isNew ? passing : faults),
  );
  const plan = new Map(planned.map((one) => [someIndex(random, kind), one]));
  const needsForeign = planned.some(({ name }) => name.startsWith('foreign'));
  const { results: foreign } = needsForeign
    ? await send(context, random, {
        request: { ...request, account: other },
        kind,
        key: pick(random, other.keys),
      })
    : { results: [] };
  const { injected } = await send(context, random, {
    request,
    kind,
    key,
    plan,
    foreign,
  });
  for (const { name } of injected) tally.pass(`fault: ${name}`);
};

/**
 * The index of a request to the database, which may not be sent: how many are needed depends on
 * what else runs.
 */
const someIndex = (random: Random, { survey, maxBytes }: Kind) =>
  below(random, survey === 'few rows' && maxBytes === Infinity ? 4 : 14);

interface Trial {
  readonly request: Request;
  readonly kind: Kind;
  readonly key: string;
  /** Faults by the index of the request to the database. */
  readonly plan?: ReadonlyMap<number, InjectedFault>;
  /** Results of another account. */
  readonly foreign?: readonly SqlResult[];
}

/** Sends a request with faults. @returns the results of its requests to the database */
async function send(
  context: Context,
  random: Random,
  { request, kind, key, plan, foreign = [] }: Trial,
): Promise<{ results: SqlResult[]; injected: InjectedFault[] }> {
  const name = randomUUID();
  const results: SqlResult[] = [];
  const injected: InjectedFault[] = [];
  using _ = context.proxy.watch(name, (exchange) => {
    exchange.refuseLonger(kind.maxBytes);
    const fault = plan?.get(exchange.index);
    if (fault) {
      injected.push(fault);
      const unaltered = () => void injected.splice(injected.indexOf(fault), 1);
      return fault.inject(exchange, random, { earlier: results, foreign, unaltered });
    }
    exchange.change((body) => {
      results.push(JSON.parse(body.toString()) as SqlResult);
      return body;
    });
    return undefined;
  });
  const { outcome } = await read(context, request, {
    key,
    gzip: random() < 0.5,
    ...(random() < 0.05 ? { method: 'HEAD' as const } : {}),
    headers: { 'Test-Trial': name },
    refusals: () => new Set(injected.flatMap(({ refusals = [] }) => refusals)),
    isLimited: true,
  });
  context.tally.pass(
    `read: ${request.path}, with faults${outcome === 'whole' ? '' : ': failing visibly'}`,
  );
  return { results, injected };
}
