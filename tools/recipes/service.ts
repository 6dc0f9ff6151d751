import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { UserError } from '../command.ts';
import type { Demo } from '../start/demo.ts';
import { runProgram } from './programs.ts';

const tool = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** The service as `npm start` starts it, with demo data of its own. */
export interface DemoService extends Demo {
  /** Of the API: with `/api/v1`. */
  readonly url: string;
  /** Imports files into the demo account, as `npm run db:import` does. */
  importFiles(files: { forms: string; responses: string }): Promise<void>;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
}

export async function startDemoService(): Promise<DemoService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'recipes-data-'));
  const env = { DATA_DIR: dataDir, DATABASE_URL: '', PORT: String(await freePort()) };
  const child = spawn(process.execPath, [tool('start.ts')], {
    env: { ...process.env, ...env, npm_lifecycle_event: 'start' }, // as npm's child it ends when this process does
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const stderr = text(child.stderr);
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
    await rm(dataDir, { recursive: true, force: true });
  };

  const ready = Promise.withResolvers<void>();
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    if (printed.includes('Ctrl-C')) ready.resolve();
  });
  void exited.then(async () => ready.reject(new UserError(`the service did not start: ${await stderr}`)));
  try {
    await ready.promise;
    const demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as Demo;
    return {
      ...demo,
      url: `http://127.0.0.1:${env.PORT}/api/v1`,
      async importFiles({ forms, responses }) {
        const args = ['--email', 'demo@example.org', '--forms', forms, '--responses', responses];
        const ended = await runProgram([process.execPath, tool('import.ts'), ...args], { env });
        if (ended.status !== 0) throw new Error(`the import failed: ${ended.stderr}`);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}
