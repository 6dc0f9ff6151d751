import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';

export interface KillWithParentOptions extends Omit<SpawnOptions, 'stdio'> {
  readonly stdio: readonly ['ignore' | 'pipe', 'ignore' | 'inherit', 'pipe' | 'inherit'];
  /** The signal sent to the program when this process has ended. */
  readonly onParentExit: 'INT' | 'QUIT' | 'KILL';
  /** Whether to send it to the program's whole process group, which requires `detached`. */
  readonly group?: boolean;
}

/**
 * File descriptor 3 is a pipe whose other end only this process holds. A background process reads
 * from it: end of file means that this process has ended, a line means that the program has. The
 * shell itself becomes the program.
 */
const SCRIPT = `( ( read -r line || kill -s "$0" -- "$1$$" ) <&3 3<&- >/dev/null 2>&1 & )
shift
exec "$@" 3<&-`;

/**
 * Starts a program that does not outlive this process, even if this process is killed. Needs a
 * POSIX shell.
 */
export function spawnKilledWithParent(
  program: string,
  args: readonly string[],
  { stdio, onParentExit, group = false, ...options }: KillWithParentOptions,
): ChildProcess {
  const target = group ? '-' : '';
  const child = spawn('/bin/sh', ['-c', SCRIPT, onParentExit, target, program, ...args], {
    ...options,
    stdio: [...stdio, 'pipe'],
  });

  const pipe = child.stdio[3];
  if (pipe && 'end' in pipe) {
    pipe.on('error', () => {}); // the background process may have ended
    child.once('exit', () => pipe.end('\n'));
  }

  return child;
}
