import { isDeepStrictEqual } from 'node:util';
import type { Exchange } from '../../support/fault-proxy.ts';
import { pick } from '../../support/random.ts';
import { type Random, below } from '../model/random-data.ts';
import type { InjectedFault, Others, SqlResult } from './fault.ts';

/*
 * Results that are well-formed, and not the query's or not all of it. The service has to notice, and to request them again.
 */

type Rows = SqlResult['rows'];
/** The altered result; undefined if there is nothing to alter. */
type Alter = (
  own: SqlResult,
  others: Others,
  exchange: Exchange,
  random: Random,
) => SqlResult | undefined | Promise<SqlResult | undefined>;

/** Results that take the place of another one. */
const replacements: readonly {
  readonly name: string;
  readonly other?: 'before' | 'meanwhile';
  readonly replacement: Alter;
}[] = [
  { name: 'swapped in one request', replacement: (own, { swap }) => swap(own) },
  { name: 'swapped between accounts', other: 'meanwhile', replacement: (own, { swap }) => swap(own) },
  { name: 'stale', replacement: (_, { earlier }, __, random) => pick(random, earlier) },
  {
    name: 'foreign',
    other: 'before',
    replacement: (_, { foreign }, { index }, random) => foreign[index] ?? pick(random, foreign),
  },
];

/** One row, or any number of them but not all. */
const some = ({ length }: Rows, random: Random) => (random() < 0.5 ? 1 : 1 + below(random, length - 1));

/** Changes to the rows of a result. */
const changes: Record<string, (rows: Rows, random: Random) => Rows> = {
  'doubled: all rows': (rows) => [...rows, ...rows],
  'doubled: one row': (rows, random) => {
    const at = below(random, rows.length);
    return rows.toSpliced(at, 0, ...rows.slice(at, at + 1));
  },
  'shortened at the end': (rows, random) => rows.slice(0, -some(rows, random)),
  'shortened at the start': (rows, random) => rows.slice(some(rows, random)),
  'shortened in the middle': (rows, random) => {
    const at = 1 + below(random, rows.length - 2);
    return rows.length < 3 ? rows : rows.toSpliced(at, Math.min(some(rows, random), rows.length - 1 - at));
  },
  'shortened to nothing': () => [],
};

function altering(alter: Alter): InjectedFault['inject'] {
  return (exchange, random, others) =>
    exchange.change(async (body) => {
      const own = JSON.parse(body.toString()) as SqlResult;
      const result = await alter(own, others, exchange, random);
      if (result && !isDeepStrictEqual(result, own)) return JSON.stringify(result);
      others.unaltered();
      return body;
    });
}

const withRows = (own: SqlResult, rows: Rows): SqlResult => ({ ...own, rows, rowCount: rows.length });

export const lies: readonly InjectedFault[] = [
  ...replacements.flatMap(({ name, other, replacement }): InjectedFault[] => [
    { name: `${name}: whole`, other, refusals: [], inject: altering(replacement) },
    {
      name: `${name}: only rows`,
      other,
      refusals: [],
      inject: altering(async (own, ...rest) => {
        const result = await replacement(own, ...rest);
        return result && withRows(own, result.rows);
      }),
    },
  ]),
  ...Object.entries(changes).map(([name, change]): InjectedFault => ({
    name,
    refusals: [],
    inject: altering((own, _, __, random) => withRows(own, change(own.rows, random))),
  })),
  {
    name: 'shortened by a lower limit',
    refusals: [],
    inject(exchange, random, { unaltered }) {
      const index = Number(/\blimit \$(\d+)/.exec(exchange.query)?.[1] ?? 0) - 1;
      const limit = Number(exchange.params[index]);
      const lowered = Math.floor(limit ** random()); // low ones as often as high ones
      if (lowered < limit) exchange.replaceParams(exchange.params.with(index, String(lowered)));
      else unaltered();
    },
  },
];
