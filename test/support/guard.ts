import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Starts the process that removes `folder` once this process is gone, however it ended, and stops the server whose id is the
 * last line that it was told on its stdin, if any.
 */
export function guardFolder(folder: string): ChildProcess {
  const script = fileURLToPath(new URL('guard-process.ts', import.meta.url));
  const guard = spawn(process.execPath, [script, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.on('error', () => {}); // without a guard a killed test run leaves files behind, which is no reason to fail
  guard.stdin.on('error', () => {});
  guard.unref();
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref();
  return guard;
}
