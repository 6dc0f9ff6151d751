import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { runFolder } from './once-per-run.ts';
import { startTool } from './run-tool.ts';

const READY_MS = 100_000;

/** Runs tools/start.ts and waits until it is ready. */
export async function startService(
  env: { readonly PORT: string; readonly DATA_DIR: string } & NodeJS.ProcessEnv,
  args: readonly string[] = [],
) {
  // If it is killed, it leaves its temporary files.
  const variables = { TMPDIR: await runFolder(), ...env };
  // as long as the tests that use it
  const { child, outcome } = startTool('start.ts', args, variables, { timeoutMs: 0 });
  const late = setTimeout(() => child.kill('SIGKILL'), READY_MS);
  let printed = '';
  await new Promise<void>((ready, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes('Ctrl-C')) ready();
    });

    void outcome.then(({ stderr }) => reject(new Error(`it ended: ${stderr}`)));
  });

  clearTimeout(late);
  return {
    pid: child.pid as number,
    /** What the service printed until it was ready; `output` returns all that it has printed. */
    printed,
    output: () => printed,
    key: keyIn(printed),
    /** Sends a signal to the service, and waits until it has ended. */
    async stop(signal: NodeJS.Signals) {
      child.kill(signal);
      const { status, stderr } = await outcome;
      return { status, stderr };
    },
  };
}

/** The demo key in what `npm start` prints. */
export const keyIn = (printed: string) => /^Key {3}(\S+)$/m.exec(printed)?.[1];

/**
 * A port that nothing listens on, and that this test run gets once. It is not one of those that
 * systems assign by themselves, from 32,768 on, which another process could get before the caller
 * uses it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(12_000 * Math.random());
    const server = createServer();
    try {
      await mkdir(join(await runFolder(), `port ${port}`));
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return port;
    } catch (error) {
      if (!['EEXIST', 'EADDRINUSE'].includes((error as NodeJS.ErrnoException).code ?? ''))
        throw error;
    } finally {
      server.close();
    }
  }
}
