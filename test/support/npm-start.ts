import { once } from 'node:events';
import { createServer } from 'node:net';
import { runFolder } from './once-per-run.ts';
import { startTool } from './run-tool.ts';

/** Runs tools/start.ts and waits until it is ready. */
export async function startService(
  env: { readonly PORT: string; readonly DATA_DIR: string } & NodeJS.ProcessEnv,
  args: readonly string[] = [],
) {
  // If it is killed, it leaves its temporary files.
  const { child, outcome } = startTool('start.ts', args, { TMPDIR: await runFolder(), ...env });
  let printed = '';
  await new Promise<void>((ready, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes('Ctrl-C')) ready();
    });
    void outcome.then(({ stderr }) => reject(new Error(`it ended: ${stderr}`)));
  });
  return {
    pid: child.pid as number,
    /** What it printed until it was ready, and what it has printed since. */
    printed,
    output: () => printed,
    key: keyIn(printed),
    /** Sends a signal, to it or to another process, and waits until it has ended. */
    async stop(signal: NodeJS.Signals, pid = child.pid as number) {
      process.kill(pid, signal);
      const { status, stderr } = await outcome;
      return { status, stderr };
    },
  };
}

/** The demo key in what `npm start` prints. */
export const keyIn = (printed: string) => /^Key {3}(\S+)$/m.exec(printed)?.[1];

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}
