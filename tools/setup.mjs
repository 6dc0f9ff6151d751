// Runs before npm start, npm run dev and npm test: installs missing packages, then checks the
// version of Node.js. It has to run on any Node.js and without any package, so it is plain
// JavaScript.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The oldest version with `await using`. It also runs wrangler, and TypeScript without a flag. */
const NODE_NEEDED = [24, 0];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const windows = process.platform === 'win32';

/**
 * @returns {Record<string, { version?: string, optional?: boolean, link?: boolean }> | undefined}
 */
function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/**
 * Compares with node_modules/.package-lock.json, which npm writes at the end of an installation.
 */
function isInstalled() {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const found = packagesOf(join(modules, '.package-lock.json'));
  if (!wanted || !found) return false;
  const paths = Object.keys({ ...wanted, ...found }).filter((path) => path !== '');
  return paths.every(
    (path) =>
      (wanted[path]?.optional && !found[path]) || wanted[path]?.version === found[path]?.version,
  );
}

function install() {
  process.stderr.write('Installing packages (this may take a minute) …\n');
  const { status, error } = spawnSync(
    'npm',
    ['ci', '--loglevel=error', '--no-fund', '--no-audit'],
    {
      cwd: root,
      stdio: ['ignore', 2, 2],
      shell: windows,
    },
  );
  if (error) throw error;
  if (status !== 0) {
    process.stderr.write('The installation failed: see the message of npm above.\n');
    process.exit(status ?? 1);
  }
}

/**
 * Checks the `node` that the npm script will run: npm's package where there is one for this
 * platform, else the system's.
 */
function checkNode() {
  const own = join(modules, '.bin', windows ? 'node.cmd' : 'node');
  const node = existsSync(own) ? own : 'node';
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8', shell: windows });
  const [major = 0, minor = 0] = (stdout ?? '').replace('v', '').split('.').map(Number);
  if (major > NODE_NEEDED[0] || (major === NODE_NEEDED[0] && minor >= NODE_NEEDED[1])) return;
  process.stderr.write(
    `This project needs Node.js ${NODE_NEEDED.join('.')} or newer. npm has no Node.js package for ${process.platform}-${process.arch}, ` +
      `and the installed version is ${stdout?.trim() || 'unknown'}: install a newer one.\n`,
  );
  process.exit(1);
}

if (!isInstalled()) install();
checkNode();
