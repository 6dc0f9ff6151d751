import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

/** Linux counts CPU time in units of USER_HZ, 100 per second on every platform (proc(5)). */
const TICKS_PER_SECOND = 100;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** CPU seconds of the process itself, user and system. */
  readonly cpu: number;
  /** CPU seconds of its children that have exited. */
  readonly childrenCpu: number;
}

/** All processes of this machine, from /proc. @throws on systems other than Linux */
function processes(): Process[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const nameEnd = stat.lastIndexOf(')'); // the name can contain spaces and parentheses
      const field = stat
        .slice(nameEnd + 2)
        .split(' ')
        .map(Number);
      const [parent = 0, utime = 0, stime = 0, cutime = 0, cstime = 0] = [1, 11, 12, 13, 14].map(
        (i) => field[i],
      );
      const name = stat.slice(stat.indexOf('(') + 1, nameEnd);
      const seconds = (ticks: number) => ticks / TICKS_PER_SECOND;
      return [
        {
          pid: Number(pid),
          parent,
          name,
          cpu: seconds(utime + stime),
          childrenCpu: seconds(cutime + cstime),
        },
      ];
    } catch {
      return []; // it has exited
    }
  });
}

/** A process and all its descendants. */
export function processTree(root: number): Process[] {
  const all = processes();
  const below = (pid: number): Process[] =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child].concat(below(child.pid)));
  return all.filter(({ pid }) => pid === root).concat(below(root));
}

/** CPU seconds of a process and its descendants, including those that have exited. */
export const treeCpu = (root: number): number =>
  processTree(root).reduce((sum, { cpu, childrenCpu }) => sum + cpu + childrenCpu, 0);

/** Runs `start` and finds the workerd that it started among this process's descendants. */
export async function workerdStartedBy<T>(
  start: () => Promise<T>,
): Promise<{ started: T; workerd: number }> {
  const workerds = () =>
    processTree(process.pid).flatMap(({ name, pid }) => (name === 'workerd' ? [pid] : []));
  const before = workerds();
  const started = await start();
  const workerd = workerds().find((pid) => !before.includes(pid));
  if (!workerd) throw new Error('no workerd was started');
  return { started, workerd };
}

/** Resident memory of a process in MiB, now and at its peak. */
export function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (field: string) =>
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return { now: mib('VmRSS'), peak: mib('VmHWM') };
}

/** Resets the peak to the current value (proc(5), clear_refs). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
