import { spawnSync } from 'node:child_process';

const isInstalled = (program: string, option: string) => spawnSync(program, [option]).status === 0;

process.env['PATH'] += ':/usr/sbin'; // where Debian installs nginx
export const PYTHON = process.env['PYTHON'] ?? 'python3';
export const hasPython = isInstalled(PYTHON, '--version');
export const hasNginx = isInstalled('nginx', '-v');

/** Vitest's global setup: at the end of a run, names the programs without which tests are skipped. */
export default () => () => {
  const missing = [!hasPython && `${PYTHON} (test/auth)`, !hasNginx && 'nginx (test/gateway)'];
  const names = missing.filter(Boolean).join(', ');
  if (names) process.stderr.write(`Not installed, so that tests are skipped: ${names}\n`);
};
