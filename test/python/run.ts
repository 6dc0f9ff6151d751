// npm run test:python: installs the Python client into a new virtual environment, as a user would, and runs its tests against the
// service. Arguments are passed to pytest: npm run test:python -- --rounds 200
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KeyLimits } from '../../src/auth/key-limits.ts';
import { UserError, runCommand } from '../../tools/command.ts';
import { loadDemoData } from '../../tools/demo-data.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { newFolder } from '../support/once-per-run.ts';
import { startStack } from '../support/stack.ts';

const CLIENT = fileURLToPath(new URL('../../clients/python/', import.meta.url));

await runCommand(async () => {
  await using cleanUp = new AsyncDisposableStack();
  const folder = await newFolder();
  const python = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  const [stack] = await Promise.all([startStack(), install(folder, python)]);
  cleanUp.defer(() => stack.stop());
  const { origin, databaseUrl } = stack.address;
  const { email } = await loadDemoData(databaseUrl);
  const keyOf = async (account: string, limits: KeyLimits | null = null) =>
    (await issueKey(databaseUrl, { email: account, name: 'python', limits })).key;
  const limits: KeyLimits = { v: 1, metadata: ['note'], pageid: false, secret: randomBytes(32).toString('hex') };

  await run(python, ['-m', 'ruff', 'check']);
  await run(python, ['-m', 'ruff', 'format', '--check']);
  await run(python, ['-m', 'mypy']);
  await run(python, ['-m', 'pytest', '-p', 'no:cacheprovider', ...process.argv.slice(2)], {
    SURVEY_EXPORT_TEST_URL: origin,
    SURVEY_EXPORT_TEST_KEY: await keyOf(email),
    SURVEY_EXPORT_TEST_OTHER_KEY: await keyOf('other-lab@example.org'),
    SURVEY_EXPORT_TEST_LIMITED_KEY: await keyOf(email, limits),
    DATABASE_URL: databaseUrl,
    NO_PROXY: '127.0.0.1',
    no_proxy: '127.0.0.1',
  });
});

async function install(folder: string, python: string): Promise<void> {
  await run(process.env['PYTHON'] ?? 'python3', ['-m', 'venv', folder]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  await run(python, [...pip, './[pandas,stats]', '-r', 'tests/requirements.txt']);
  await run(python, [...pip, '--no-deps', '-r', 'tests/requirements-no-deps.txt']);
}

async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  const child = spawn(program, args, { cwd: CLIENT, stdio: 'inherit', env: { ...process.env, ...env } });
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new UserError(`${args.join(' ')} failed`);
}
