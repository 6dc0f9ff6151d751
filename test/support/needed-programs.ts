import { spawnSync } from 'node:child_process';

process.env['PATH'] += ':/usr/sbin'; // where Debian installs nginx
export const hasNginx = spawnSync('nginx', ['-v']).status === 0;

/** Vitest's global setup: at the end of a run, names the program without which tests are skipped. */
export default () => () => {
  if (!hasNginx)
    process.stderr.write('Not installed, so that tests are skipped: nginx (test/gateway)\n');
};
