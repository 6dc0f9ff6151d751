import { isDeepStrictEqual } from 'node:util';
import type { Exchange } from '../../support/fault-proxy.ts';
import { type Random, below, pick } from '../../support/random.ts';
import type { InjectedFault, Others, SqlResult } from './fault.ts';

/*
 * Results that are well-formed, and not the query's or not all of it. The service has to notice,
 * and to request them again.
 */

type Rows = SqlResult['rows'];
/** The altered result; undefined if there is nothing to alter. */
type Alter = (
  own: SqlResult,
  others: Others,
  exchange: Exchange,
  random: Random,
) => SqlResult | undefined;

/** Results that take the place of another one. */
const replacements: Readonly<Record<string, Alter>> = {
  stale: (_, { earlier }, __, random) => pick(random, earlier),
  foreign: (_, { foreign }, { index }, random) => foreign[index] ?? pick(random, foreign),
};

/** One row, or any number of them but not all. */
const some = ({ length }: Rows, random: Random) =>
  random() < 0.5 ? 1 : 1 + below(random, length - 1);

/**
 * Changes to the rows of a result on their way, whose number stays. What the service does not notice,
 * one row in the place of another, is in docs/trust.md.
 */
const changes: Readonly<Record<string, (rows: Rows, random: Random) => Rows>> = {
  'doubled: all rows': (rows) => [...rows, ...rows],
  'doubled: one row': (rows, random) => {
    const at = below(random, rows.length);
    return rows.toSpliced(at, 0, ...rows.slice(at, at + 1));
  },
  'shortened at the end': (rows, random) => rows.slice(0, -some(rows, random)),
  'shortened at the start': (rows, random) => rows.slice(some(rows, random)),
  'shortened in the middle': (rows, random) => {
    const at = 1 + below(random, rows.length - 2);
    return rows.length < 3
      ? rows
      : rows.toSpliced(at, Math.min(some(rows, random), rows.length - 1 - at));
  },
  'shortened to nothing': () => [],
};

function altering(name: string, alter: Alter): InjectedFault {
  const inject: InjectedFault['inject'] = (exchange, random, others) =>
    exchange.change((body) => {
      const own = JSON.parse(body.toString()) as SqlResult;
      const result = alter(own, others, exchange, random);
      if (result && !isDeepStrictEqual(result, own)) return JSON.stringify(result);
      others.unaltered();
      return body;
    });
  return { name, inject };
}

const withRows = (own: SqlResult, rows: Rows): SqlResult => ({
  ...own,
  rows,
  rowCount: rows.length,
});

/**
 * The position of a query's limit in its parameters, where its check or a LIMIT names it; -1 if
 * there is none.
 */
export function limitIndex({ query }: Exchange): number {
  const found = /concat_ws\(' ', 'r\w+', \$(\d+)/.exec(query) ?? /\blimit \$(\d+)/.exec(query);
  return Number(found?.[1] ?? 0) - 1;
}

export const lies: readonly InjectedFault[] = [
  ...Object.entries(replacements).flatMap(([name, replacement]) => [
    altering(`${name}: whole`, replacement),
    altering(`${name}: only rows`, (own, ...rest) => {
      const result = replacement(own, ...rest);
      return result && withRows(own, result.rows);
    }),
  ]),
  ...Object.entries(changes).map(([name, change]) =>
    altering(name, (own, _, __, random) => ({ ...own, rows: change(own.rows, random) })),
  ),
  {
    name: 'shortened by a lower limit',
    inject(exchange, random, { unaltered }) {
      const index = limitIndex(exchange);
      const limit = Number(exchange.params[index]);
      const lowered = Math.floor(limit ** random()); // low ones as often as high ones
      if (lowered < limit) exchange.replaceParams(exchange.params.with(index, String(lowered)));
      else unaltered();
    },
  },
];
