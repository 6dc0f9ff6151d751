import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from '../../bench/process-stats.ts';
import { reasonOf } from '../../tools/command.ts';
import { copyResponses, sql } from '../support/data.ts';
import { changeKeys, intrude, leave, write } from './disturbers.ts';
import { exports, pageThrough, poll, readFile } from './readers.ts';
import { begin, read } from './request.ts';
import { type World, complain, createWorld } from './world.ts';

/** What {@link soak} has found. */
export interface Report {
  readonly lines: readonly string[];
  /** None, if all is well. */
  readonly problems: readonly string[];
}

/**
 * By how much workerd's memory may stay above idle, MiB. Eighteen files are read at a time, each with up to 24 MiB of pages ahead;
 * once read they are garbage, which V8 and the allocator keep without a need to give it back.
 */
const MEMORY_BOUND = 18 * 24;

/** Runs everything at once for so long, and then checks. @param say is told how it goes */
export async function soak(options: { seconds: number; rows: number }, say: (line: string) => void): Promise<Report> {
  const world = await createWorld(options);
  try {
    const [first] = world.sides;
    if (first) await read(await begin('/surveys', {}, first.account.key));
    const idle = memoryOf(world.workerd).now;
    const progress = setInterval(() => say(progressOf(world)), 10_000);
    await Promise.all(everybody(world));
    clearInterval(progress);
    const peak = memoryOf(world.workerd).peak;
    await checkDatabase(world);
    const after = await checkMemory(world, idle);
    checkLog(world);
    const memory = `workerd: ${idle.toFixed(0)} MiB idle, ${peak.toFixed(0)} at its peak, ${after.toFixed(0)} afterwards`;
    return { lines: [progressOf(world), ...linesOf(world), memory], problems: world.problems };
  } finally {
    await world.stack.stop();
  }
}

function everybody(world: World): Promise<void>[] {
  const loop = async (what: string, pauseMs: number, work: () => Promise<void>) => {
    while (Date.now() < world.end) {
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

/** Nothing may be running, and what the service gives now is what Postgres has. */
async function checkDatabase(world: World): Promise<void> {
  const running = () =>
    sql<{ query: string }>(
      `select query from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle' and backend_type = 'client backend'`,
    );
  for (let tries = 0; (await running()).length > 0; tries++) {
    if (tries === 20) {
      complain(world, 'queries are still running 5 s after the last reader');
      break;
    }
    await sleep(250);
  }
  for (const side of world.sides) {
    const response = await begin('/responses/csv', { survey: side.survey.name, count: 'true' }, side.account.key);
    const same = (await read(response)) === (await copyResponses(side.survey)).toString('utf8');
    const total = Number(response.headers['x-total-count']);
    if (!same) complain(world, `the last file of ${side.owner} is not what COPY gives`);
    if (total !== side.stored) complain(world, `X-Total-Count ${total} with ${side.stored} stored`);
    for (const name of Object.keys(exports)) await readFile(world, side, name);
  }
}

async function checkMemory(world: World, idle: number): Promise<number> {
  for (let tries = 0; ; tries++) {
    const { now } = memoryOf(world.workerd);
    if (now - idle <= MEMORY_BOUND) return now;
    if (tries === 40) {
      complain(world, `workerd holds ${(now - idle).toFixed(0)} MiB more than idle; ${MEMORY_BOUND} are allowed`);
      return now;
    }
    await sleep(250);
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
