import { tokenOf } from '../model/order.ts';
import type { Request } from '../expected/select.ts';

/** Path and query of a request, including parameters that the endpoint ignores. */
export function addressOf({ path, parameters }: Request): string {
  const { since, until, after, ...rest } = parameters;
  const given = {
    ...rest,
    since: since?.text,
    until: until?.text,
    after: after && tokenOf(after.response, after.older),
  };
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)]),
  );
  return path === '/surveys' || path === '/key' ? path : `${path}?${new URLSearchParams(pairs).toString()}`;
}
