// Makes a fresh clone ready to work: installs what package-lock.json names and is not there yet, then checks that the
// Node.js this project brings can run here. It comes before every npm script, on whatever Node.js the machine has, so
// it is plain JavaScript without dependencies, and it writes to stderr only: a script's stdout is its own.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Type stripping without a flag and wrangler both need this much. */
const NODE_NEEDED = [22, 18];
const LOCK_STALE_MS = 10 * 60_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const windows = process.platform === 'win32';

/** @returns {Record<string, { version?: string, optional?: boolean, link?: boolean }> | undefined} */
function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** npm records what it installed in node_modules/.package-lock.json, and does so last. */
function isInstalled() {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const found = packagesOf(join(modules, '.package-lock.json'));
  if (!wanted || !found) return false;
  const missing = Object.entries(wanted).some(
    ([path, entry]) => path !== '' && !entry.optional && found[path]?.version !== entry.version,
  );
  const stale = Object.entries(found).some(([path, entry]) => wanted[path]?.version !== entry.version);
  return !missing && !stale;
}

function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Two scripts started at once in a fresh clone must not install into one another. */
function withInstallLock(work) {
  const lock = join(root, '.npm-install.lock');
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const age = Date.now() - (existsSync(lock) ? statSync(lock).mtimeMs : Date.now());
      if (age > LOCK_STALE_MS) rmSync(lock, { recursive: true, force: true });
      else sleep(250);
    }
  }
  const release = () => rmSync(lock, { recursive: true, force: true });
  process.once('exit', release);
  work();
  release();
}

function install() {
  if (isInstalled()) return;
  process.stderr.write('Installing packages (once; a minute or so) …\n');
  const { status, error } = spawnSync('npm', ['ci', '--loglevel=error', '--no-fund', '--no-audit'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: windows,
  });
  if (error) throw error;
  if (status !== 0) {
    process.stderr.write("The installation failed: see npm's message above.\n");
    process.exit(status ?? 1);
  }
}

/** The `node` that the npm script runs next: the project's own where npm has one for this platform. */
function checkNode() {
  const own = join(modules, '.bin', windows ? 'node.cmd' : 'node');
  const node = existsSync(own) ? own : 'node';
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8', shell: windows });
  const [major = 0, minor = 0] = (stdout ?? '').replace('v', '').split('.').map(Number);
  if (major > NODE_NEEDED[0] || (major === NODE_NEEDED[0] && minor >= NODE_NEEDED[1])) return;
  process.stderr.write(
    `This project needs Node.js ${NODE_NEEDED.join('.')} or newer to run; on ${process.platform}-${process.arch} it brings none ` +
      `of its own, and the one found is ${stdout?.trim() || 'none'}.\n`,
  );
  process.exit(1);
}

if (!isInstalled()) withInstallLock(install);
checkNode();
