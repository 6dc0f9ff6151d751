import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../../tools/command.ts';
import { copyResponses, sql } from '../support/data.ts';
import { disconnect, insertResponses, replaceKey, tryInvalidKey } from './actions.ts';
import { exports, pageThrough, poll, readFile } from './readers.ts';
import { type Measurement, MemoryWatch, memoryLines, memoryProblems } from './memory.ts';
import { read, send } from './request.ts';
import { type World, createWorld, fail } from './world.ts';

export interface SoakOptions {
  readonly seconds: number;
  /** Responses of each account. */
  readonly rows: number;
  readonly seed: number;
}

/** The outcome of {@link soak}. */
export interface Report {
  readonly lines: readonly string[];
  /** How many checks passed. */
  readonly passed: number;
  readonly problems: readonly string[];
}

/** During the first part, workerd compiles the code and its memory grows. The other parts show whether it keeps growing. */
const PARTS = 3;

/** Runs the load in three parts, then checks files, memory and the log. @param print gets a line of progress every 10 seconds */
export async function soak(options: SoakOptions, print: (line: string) => void): Promise<Report> {
  const world = await createWorld(options);
  const progress = setInterval(() => print(progressOf(world)), 10_000);
  try {
    for (const { account } of world.tenants) await read(await send('/surveys', {}, account.key));
    await using memory = await MemoryWatch.start(world);
    const idle = await memory.measure();
    const afterParts: Measurement[] = [];
    while (afterParts.length < PARTS) {
      await Promise.all(load(world, Date.now() + (1000 * options.seconds) / PARTS));
      await untilIdle(world);
      afterParts.push(await memory.measure(idle.held));
    }
    await checkFiles(world);
    for (const problem of memoryProblems(idle, afterParts)) fail(world, problem);
    checkLog(world);
    const passed = [...world.passed.values()].reduce((sum, times) => sum + times, 0);
    const lines = [progressOf(world), ...linesOf(world), ...memoryLines(idle, afterParts)];
    return { lines, passed, problems: world.problems };
  } finally {
    clearInterval(progress);
    await world.stack.stop();
  }
}

/** Repeats every action, all at the same time. @param end milliseconds since 1970 */
function load(world: World, end: number): Promise<void>[] {
  const repeat = async (name: string, pauseMs: number, action: () => Promise<void>) => {
    while (Date.now() < end) {
      await action().catch((error: unknown) => fail(world, `${name}: ${reasonOf(error)}`));
      await sleep(pauseMs * (0.5 + world.random()));
    }
  };
  return world.tenants.flatMap((tenant) => [
    ...Object.keys(exports).map((name) => repeat(name, 500, () => readFile(world, tenant, name))),
    repeat('pages', 300, () => pageThrough(world, tenant)),
    repeat('poll', 100, () => poll(world, tenant)),
    repeat('disconnect with FIN', 300, () => disconnect(world, tenant, 'FIN')),
    repeat('disconnect with RST', 300, () => disconnect(world, tenant, 'RST')),
    repeat('invalid key', 2500, () => tryInvalidKey(world, tenant)),
    repeat('keys', 2000, () => replaceKey(world, tenant)),
    repeat('insert', 200, () => insertResponses(world, tenant)),
  ]);
}

/** Checks that no query keeps running after the last reader has finished or disconnected. */
async function untilIdle(world: World): Promise<void> {
  for (let tries = 0; ; tries++) {
    const [{ running } = { running: 0 }] = await sql<{ running: number }>(
      `select count(*)::int as running from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle' and backend_type = 'client backend'`,
    );
    if (running === 0) return;
    if (tries === 20) return fail(world, `${running} queries are still running 5 s after the last reader`);
    await sleep(250);
  }
}

/** Checks that files after the load equal the stored responses. */
async function checkFiles(world: World): Promise<void> {
  for (const tenant of world.tenants) {
    const response = await send('/responses/csv', { survey: tenant.survey.name, count: 'true' }, tenant.account.key);
    const same = (await read(response)) === (await copyResponses(tenant.survey)).toString('utf8');
    const total = Number(response.headers['x-total-count']);
    if (!same) fail(world, `the last file of ${tenant.letter} differs from the output of COPY`);
    if (total !== tenant.stored) fail(world, `X-Total-Count is ${total}, but ${tenant.stored} responses are stored`);
    for (const name of ['csv', 'ndjson', 'wide']) await readFile(world, tenant, name);
  }
}

function checkLog(world: World): void {
  const lines = world.stack.worker.log().split('\n');
  const bad = lines.filter((line) => /unhandled|uncaught|defect|TypeError|ReferenceError/i.test(line));
  for (const line of new Set(bad)) fail(world, `in the log: ${line.slice(0, 300)}`);
}

function progressOf(world: World): string {
  const sum = (names: string[]) => names.reduce((total, name) => total + (world.passed.get(name) ?? 0), 0);
  return (
    `${sum(Object.keys(exports))} exports, ${sum(['pages'])} pages, ${world.rows} rows compared, ${world.lost} lost, ` +
    `${world.problems.length} problems`
  );
}

const linesOf = (world: World) => [...world.passed].map(([name, times]) => `${String(times).padStart(7)}  ${name}`);
