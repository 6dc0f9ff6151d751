import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';

/**
 * The command lines of all processes. Reads /proc on Linux, where `ps` may not be installed;
 * zombies have none.
 */
export function commandLines(): string[] {
  if (!existsSync('/proc/self/cmdline'))
    return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n');
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids
    .map((id) => read(`/proc/${id}/cmdline`).replaceAll('\0', ' '))
    .filter((line) => line !== '');
}

/** The ports that processes listen on, whatever the address, from /proc. */
export function listeningPorts(pids: readonly number[]): number[] {
  const sockets = new Set(pids.flatMap(openFiles));
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => read(file).split('\n'));
  return lines.flatMap((line) => {
    // proc_pid_net(5): sl, local address in hexadecimal, remote address, state (0A: listening), …;
    // the tenth field is the inode
    const [, address = '', , state, ...rest] = line.trim().split(/\s+/);
    const [, port = ''] = address.split(':');
    return state === '0A' && sockets.has(`socket:[${rest[5]}]`) ? [Number.parseInt(port, 16)] : [];
  });
}

/** The files, sockets and pipes that a process has open, as /proc names them. */
export function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return orNothing(() => readdirSync(folder), []).map((name) =>
    orNothing(() => readlinkSync(`${folder}/${name}`), ''),
  );
}

const read = (file: string) => orNothing(() => readFileSync(file, 'utf8'), '');

/** @returns `nothing` if a process has ended or closed a file meanwhile */
function orNothing<T>(look: () => T, nothing: T): T {
  try {
    return look();
  } catch {
    return nothing;
  }
}
