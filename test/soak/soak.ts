import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../../tools/command.ts';
import { copyResponses, sql } from '../support/data.ts';
import { changeKeys, intrude, leave, write } from './disturbers.ts';
import { exports, pageThrough, poll, readFile } from './readers.ts';
import { type Measurement, MemoryWatch, memoryLines, memoryProblems } from './memory.ts';
import { begin, read } from './request.ts';
import { type World, complain, createWorld } from './world.ts';

/** What {@link soak} has found. */
export interface Report {
  readonly lines: readonly string[];
  /** None, if all is well. */
  readonly problems: readonly string[];
}

/** In the first, workerd compiles and its memory grows to what it needs. The others show whether it stays there. */
const PARTS = 3;

/** Runs everything at once for so long, in three parts, and then checks. @param say is told how it goes */
export async function soak(options: { seconds: number; rows: number }, say: (line: string) => void): Promise<Report> {
  const world = await createWorld(options.rows);
  const progress = setInterval(() => say(progressOf(world)), 10_000);
  try {
    for (const { account } of world.sides) await read(await begin('/surveys', {}, account.key));
    await using memory = await MemoryWatch.start(world);
    const idle = await memory.measure();
    const behindParts: Measurement[] = [];
    while (behindParts.length < PARTS) {
      await Promise.all(everybody(world, Date.now() + (1000 * options.seconds) / PARTS));
      await untilIdle(world);
      behindParts.push(await memory.measure(idle.held));
    }
    await checkFiles(world);
    for (const problem of memoryProblems(idle, behindParts)) complain(world, problem);
    checkLog(world);
    const lines = [progressOf(world), ...linesOf(world), ...memoryLines(idle, behindParts)];
    return { lines, problems: world.problems };
  } finally {
    clearInterval(progress);
    await world.stack.stop();
  }
}

/** All that goes on at once, until a moment. @param end milliseconds since 1970 */
function everybody(world: World, end: number): Promise<void>[] {
  const loop = async (what: string, pauseMs: number, work: () => Promise<void>) => {
    while (Date.now() < end) {
      await work().catch((error: unknown) => complain(world, `${what}: ${reasonOf(error)}`));
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  };
  return world.sides.flatMap((side) => [
    ...Object.keys(exports).map((name) => loop(name, 500, () => readFile(world, side, name))),
    loop('pages', 300, () => pageThrough(world, side)),
    loop('poll', 100, () => poll(world, side)),
    loop('a reader that leaves by FIN', 300, () => leave(world, side, 'FIN')),
    loop('a reader that leaves by RST', 300, () => leave(world, side, 'RST')),
    loop('a bad key', 2500, () => intrude(world, side)),
    loop('keys', 2000, () => changeKeys(world, side)),
    loop('insert', 200, () => write(world, side)),
  ]);
}

/** Nothing may be running once the last reader is done or gone. */
async function untilIdle(world: World): Promise<void> {
  for (let tries = 0; ; tries++) {
    const [{ running } = { running: 0 }] = await sql<{ running: number }>(
      `select count(*)::int as running from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle' and backend_type = 'client backend'`,
    );
    if (running === 0) return;
    if (tries === 20) return complain(world, `${running} queries are still running 5 s after the last reader`);
    await sleep(250);
  }
}

/** What the service gives now is what Postgres has. */
async function checkFiles(world: World): Promise<void> {
  for (const side of world.sides) {
    const response = await begin('/responses/csv', { survey: side.survey.name, count: 'true' }, side.account.key);
    const same = (await read(response)) === (await copyResponses(side.survey)).toString('utf8');
    const total = Number(response.headers['x-total-count']);
    if (!same) complain(world, `the last file of ${side.owner} is not what COPY gives`);
    if (total !== side.stored) complain(world, `X-Total-Count ${total} with ${side.stored} stored`);
    for (const name of ['csv', 'ndjson', 'wide']) await readFile(world, side, name);
  }
}

function checkLog(world: World): void {
  const lines = world.stack.worker.log().split('\n');
  const bad = lines.filter((line) => /unhandled|uncaught|defect|TypeError|ReferenceError/i.test(line));
  for (const line of new Set(bad)) complain(world, `in the log: ${line.slice(0, 300)}`);
}

function progressOf(world: World): string {
  const of = (names: string[]) => names.reduce((sum, name) => sum + (world.done.get(name) ?? 0), 0);
  return (
    `${of(Object.keys(exports))} exports, ${of(['pages'])} pages, ${world.rows} rows compared, ${world.lost} lost, ` +
    `${world.problems.length} problems`
  );
}

const linesOf = (world: World) => [...world.done].map(([what, times]) => `${String(times).padStart(7)}  ${what}`);
