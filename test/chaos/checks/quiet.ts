import { setTimeout as sleep } from 'node:timers/promises';
import { naiveCsv } from '../../support/csv.ts';
import { copyResponses, sql } from '../../support/data.ts';
import { linesIn } from '../../support/request-log.ts';
import type { Context } from '../context.ts';
import { longHeader, longRecord } from '../expected/tables.ts';
import { byCursor } from '../model/order.ts';

/** Checks that no query runs after the last reader has finished or disconnected. */
export async function checkIdle({ tally }: Context): Promise<void> {
  for (let tries = 0; ; tries++) {
    const running = await sql(
      `select from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle' and backend_type = 'client backend'`,
    );
    if (running.length === 0) return tally.pass('no query runs when all readers have left');
    if (tries === 80)
      return tally.fail(`${running.length} queries are still running 20 s after the last reader`);
    await sleep(250);
  }
}

/**
 * Checks that the model has the responses that the database has: those of all surveys equal the
 * output of COPY.
 */
export async function checkModel({ world, tally }: Context): Promise<void> {
  for (const { id, email, data } of world.accounts) {
    if (data.forms.length === 0) continue;
    const rows = data.responses.toSorted(byCursor).map((row) => longRecord(row, { survey: '' }));
    const copied = await copyResponses({
      name: '',
      account: { id, email, key: '' },
      forms: data.forms,
    });
    if (copied.equals(Buffer.from(naiveCsv([longHeader({ survey: '' }), ...rows]))))
      tally.pass('the model equals COPY');
    else tally.fail('the model differs from the output of COPY');
  }
}

/** What no line of the log may contain: keys, their hashes, connection strings, data, crashes. */
const FORBIDDEN =
  /sresl?_|postgres(?:ql)?:\/\/\w+:|X-Evil|mk[0-9a-f]{32}km|\b[0-9a-f]{64}\b|unhandled|@example/i;
/** workerd's own line for a transfer that the service aborts. */
const ABORTED = /^Uncaught exception: workerd\/\S+ failed: remote\.jsg\.Error: DatabaseError: /;

/**
 * Checks that the log has one line for each request, which tells how it ended, no secrets, and
 * nothing but what the service writes.
 */
export function checkLog({ stack, served, tally }: Context): void {
  const lines = stack.worker.log().split('\n').slice(0, -1);
  const problems = lines.filter(
    (line) => !(line.startsWith('{"event":"') || ABORTED.test(line)) || FORBIDDEN.test(line),
  );
  const ends = Map.groupBy(linesIn(stack.worker), ({ requestId }) => requestId);
  for (const [id, isWhole] of served) {
    const all = (ends.get(id) ?? []).map(({ end }) => end);
    if (all.length !== 1 || (isWhole && all[0] !== 'complete'))
      problems.push(`${id}: ${all.join(', ') || 'no line'}`);
  }
  for (const problem of problems.slice(0, 10)) tally.fail(`in the log: ${problem.slice(0, 500)}`);
  if (problems.length === 0) tally.pass('the log is clean');
}
