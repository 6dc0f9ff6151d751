import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

/** What Linux counts CPU time in: USER_HZ, 100 a second on every platform (proc(5)). */
const TICKS_PER_SECOND = 100;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** Seconds of CPU, user and system, of the process itself. */
  readonly cpu: number;
  /** Seconds of CPU of its children that have ended. */
  readonly childrenCpu: number;
}

/** All processes of this machine, from /proc. @throws on other systems than Linux */
function processes(): Process[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const nameEnd = stat.lastIndexOf(')'); // the name may hold spaces and brackets
      const field = stat
        .slice(nameEnd + 2)
        .split(' ')
        .map(Number);
      const [parent = 0, utime = 0, stime = 0, cutime = 0, cstime = 0] = [1, 11, 12, 13, 14].map((i) => field[i]);
      const name = stat.slice(stat.indexOf('(') + 1, nameEnd);
      const seconds = (ticks: number) => ticks / TICKS_PER_SECOND;
      return [{ pid: Number(pid), parent, name, cpu: seconds(utime + stime), childrenCpu: seconds(cutime + cstime) }];
    } catch {
      return []; // it has ended meanwhile
    }
  });
}

/** Seconds of CPU that a process and its descendants have used, also those that have ended. */
export function treeCpu(root: number): number {
  const all = processes();
  const sum = (pid: number): number =>
    all.filter((process) => process.parent === pid).reduce((total, child) => total + sum(child.pid), 0) +
    all.filter((process) => process.pid === pid).reduce((total, own) => total + own.cpu + own.childrenCpu, 0);
  return sum(root);
}

/** Starts something that starts a workerd, and finds that among this process's descendants. */
export async function workerdStartedBy<T>(start: () => Promise<T>): Promise<{ started: T; workerd: number }> {
  const before = new Set(descendants(process.pid, 'workerd'));
  const started = await start();
  const workerd = descendants(process.pid, 'workerd').find((pid) => !before.has(pid));
  if (!workerd) throw new Error('no workerd has been started');
  return { started, workerd };
}

function descendants(root: number, name: string): number[] {
  const all = processes();
  const below = (pid: number): Process[] =>
    all.filter((process) => process.parent === pid).flatMap((child) => [child].concat(below(child.pid)));
  return below(root)
    .filter((process) => process.name === name)
    .map(({ pid }) => pid);
}

/** Resident memory of a process, now and at its peak; MiB. */
export function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return { now: mib('VmRSS'), peak: mib('VmHWM') };
}

/** Sets the peak to what is in use now (proc(5), clear_refs). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
