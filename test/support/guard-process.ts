// Started beside each test server, with the server's folder as its argument and the server's process id as the last line
// of its stdin (a server that is restarted gets another), which stays open while the test process lives. When that process is
// gone, however it ended, the server is stopped and the folder removed. A folder may as well have no server.
import { rm } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';

const folder = process.argv[2];
const pid = Number((await text(process.stdin).catch(() => '')).trim().split('\n').at(-1));
if (pid > 0) {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch {
    // it has ended already
  }
  await setTimeout(500);
}
if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
