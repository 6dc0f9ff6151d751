import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { type Outcome, withoutDatabase } from './run-tool.ts';

let runs = 0;

/** The arguments in a line, in which only double quotes have a meaning. */
const argumentsIn = (line: string): string[] =>
  Array.from(line.matchAll(/"([^"]*)"|\S+/g), ([argument, quoted]) => quoted ?? argument);

/**
 * Runs `tools/<name>` in this process, which takes far less time than a separate process, by
 * evaluating its module anew.
 *
 * @param args a list, or a line
 * @returns its outcome, without the line that names the database
 */
export async function runHere(
  name: string,
  args: string | readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  const output = { stdout: '', stderr: '' };
  let exited: Outcome | undefined;
  const { argv, exitCode } = process;
  const script = fileURLToPath(new URL(`../../tools/${name}`, import.meta.url));
  const list = typeof args === 'string' ? argumentsIn(args) : args;
  process.argv = [process.execPath, script, ...list];
  for (const [variable, value] of Object.entries({ DATABASE_URL: '', ...env }))
    vi.stubEnv(variable, value);
  const spies = [
    ...(['stdout', 'stderr'] as const).map((stream) =>
      vi.spyOn(process, stream, 'get').mockReturnValue(into(stream)),
    ),
    vi.spyOn(process, 'exit').mockImplementation((status) => {
      exited ??= { status: Number(status ?? process.exitCode), ...output };
      throw new Error('what the command does after it has ended');
    }),
  ];

  function into(stream: keyof typeof output) {
    const write = (chunk: Buffer, _: string, done: () => void) => {
      output[stream] += chunk.toString();
      done();
    };

    return new Writable({ write }) as NodeJS.WriteStream & { fd: 1 & 2 };
  }

  try {
    process.exitCode = 0;
    await import(`${script}?run=${(runs += 1)}`).catch((error: unknown) => {
      if (!exited) throw error;
    });

    const { status, stdout, stderr } = exited ?? { status: process.exitCode, ...output };
    return { status, stdout, stderr: withoutDatabase(stderr) };
  } finally {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
    process.argv = argv;
    process.exitCode = exitCode;
  }
}
