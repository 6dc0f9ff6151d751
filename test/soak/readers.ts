import type { Page } from '../support/api.ts';
import { read, send } from './request.ts';
import { type Known, checkRows } from './rows.ts';
import { type Tenant, type World, fail, pass, snapshot } from './world.ts';

interface Export {
  readonly path: string;
  readonly layout?: 'wide';
  readonly gzip?: boolean;
  readonly slowMs?: number;
}

export const exports: Readonly<Record<string, Export>> = {
  csv: { path: '/responses/csv' },
  ndjson: { path: '/responses/ndjson' },
  wide: { path: '/responses/csv', layout: 'wide' },
  'csv with gzip': { path: '/responses/csv', gzip: true },
  'ndjson with gzip': { path: '/responses/ndjson', gzip: true },
  'csv, read slowly': { path: '/responses/csv', slowMs: 3000 },
  'wide, read slowly': { path: '/responses/csv', layout: 'wide', slowMs: 3000 },
};

/** Reads a file and compares it with the stored responses. @param name a key of {@link exports} */
export async function readFile(world: World, tenant: Tenant, name: string): Promise<void> {
  const { path, layout, gzip, slowMs } = exports[name] as Export;
  const known = snapshot(tenant);
  const parameters = { survey: tenant.survey.name, layout, count: layout ? undefined : 'true' };
  const response = await send(path, parameters, tenant.account.key, gzip ? { 'Accept-Encoding': 'gzip' } : {});
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  const { atLeast, below } = known();
  const total = Number(response.headers['x-total-count']);
  if (!layout && !(total >= atLeast && total <= below))
    fail(world, `${name}: X-Total-Count is ${total}, with ${atLeast} to ${below} stored`);
  check(world, name, await read(response, slowMs), layout ?? 'long', known());
}

function check(world: World, name: string, text: string, layout: 'long' | 'wide', known: Known): void {
  const { problems, rows, lost } = checkRows(text, layout, known);
  world.rows += rows;
  world.lost += lost;
  for (const problem of problems) fail(world, `${name} of ${known.letter}: ${problem}`);
  if (problems.length === 0) pass(world, name);
}

/** Reads all pages of a survey. */
export async function pageThrough(world: World, tenant: Tenant): Promise<void> {
  const known = snapshot(tenant);
  const pageSize = 2000;
  const texts: string[] = [];
  for (let after: string | undefined; ;) {
    const response = await send('/responses', { survey: tenant.survey.name, pageSize, after }, tenant.account.key);
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    const text = await read(response);
    texts.push(text);
    pass(world, 'pages');
    const { responses } = JSON.parse(text) as Page;
    if (responses.length < pageSize) break;
    after = responses.at(-1)?.token;
  }
  check(world, 'surveys, page by page', texts.join(''), 'long', known());
}

const tags = new Map<string, string>();

/** Requests a page and the list of surveys, with the tag of the last response. */
export async function poll(world: World, tenant: Tenant): Promise<void> {
  for (const [path, parameters] of [
    ['/responses', { survey: tenant.survey.name, pageSize: 25, count: 'true' }],
    ['/surveys', {}],
  ] as const) {
    const tag = tags.get(tenant.letter + path);
    const response = await send(path, parameters, tenant.account.key, tag ? { 'If-None-Match': tag } : {});
    if (response.statusCode !== 200 && response.statusCode !== 304) throw new Error(`status ${response.statusCode}`);
    const text = await read(response);
    tags.set(tenant.letter + path, response.headers.etag ?? '');
    if (text.includes(`#${tenant.letter === 'A' ? 'B' : 'A'}:`)) fail(world, 'poll: a response of another account');
    else pass(world, `polls with status ${response.statusCode}`);
  }
}
