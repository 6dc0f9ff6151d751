import type { Page } from '../support/api.ts';
import { begin, read } from './request.ts';
import { inspect } from './rows.ts';
import { type Side, type World, complain, count, look } from './world.ts';

interface Export {
  readonly path: string;
  readonly layout?: 'wide';
  readonly gzip?: boolean;
  readonly slowMs?: number;
}

/** Every kind of file. */
export const exports: Readonly<Record<string, Export>> = {
  csv: { path: '/responses/csv' },
  ndjson: { path: '/responses/ndjson' },
  wide: { path: '/responses/csv', layout: 'wide' },
  'csv under gzip': { path: '/responses/csv', gzip: true },
  'ndjson under gzip': { path: '/responses/ndjson', gzip: true },
  'csv, read slowly': { path: '/responses/csv', slowMs: 3000 },
  'wide, read slowly': { path: '/responses/csv', layout: 'wide', slowMs: 3000 },
};

/** Reads a file, and holds it against what was stored when it began. */
export async function readFile(world: World, side: Side, name: string): Promise<void> {
  const { path, layout, gzip, slowMs } = exports[name] as Export;
  const known = look(side);
  const parameters = { survey: side.survey.name, layout, count: layout ? undefined : 'true' };
  const response = await begin(path, parameters, side.account.key, gzip ? { 'Accept-Encoding': 'gzip' } : {});
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  const atStart = known();
  const total = response.headers['x-total-count'];
  const text = await read(response, slowMs);
  judge(world, name, text, layout ?? 'long', known());
  if (!layout && !(Number(total) >= atStart.atLeast && Number(total) <= atStart.below))
    complain(world, `${name}: X-Total-Count ${String(total)}, with ${atStart.atLeast} to ${atStart.below} stored`);
  count(world, name);
}

function judge(
  world: World,
  name: string,
  text: string,
  layout: 'long' | 'wide',
  known: Parameters<typeof inspect>[2],
) {
  const { problems, rows, lost } = inspect(text, layout, known);
  world.rows += rows;
  world.lost += lost;
  for (const problem of problems) complain(world, `${name} of ${known.owner}: ${problem}`);
}

/** Reads page after page to the end. */
export async function pageThrough(world: World, side: Side): Promise<void> {
  const known = look(side);
  const pageSize = 2000;
  const texts: string[] = [];
  for (let after: string | undefined; ;) {
    const response = await begin('/responses', { survey: side.survey.name, pageSize, after }, side.account.key);
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    const text = await read(response);
    texts.push(text);
    count(world, 'pages');
    const { responses } = JSON.parse(text) as Page;
    if (responses.length < pageSize) break;
    after = responses.at(-1)?.token;
  }
  judge(world, 'pages', texts.join(''), 'long', known());
}

const tags = new Map<string, string>();

/** Asks whether there is anything new. */
export async function poll(world: World, side: Side): Promise<void> {
  for (const [path, parameters] of [
    ['/responses', { survey: side.survey.name, pageSize: 25, count: 'true' }],
    ['/surveys', {}],
  ] as const) {
    const tag = tags.get(side.owner + path);
    const response = await begin(path, parameters, side.account.key, tag ? { 'If-None-Match': tag } : {});
    if (response.statusCode !== 200 && response.statusCode !== 304) throw new Error(`status ${response.statusCode}`);
    const text = await read(response);
    if (text.includes(`#${side.owner === 'A' ? 'B' : 'A'}:`)) complain(world, 'poll: a response of another account');
    tags.set(side.owner + path, response.headers.etag ?? '');
    count(world, `polls answered ${response.statusCode}`);
  }
}
