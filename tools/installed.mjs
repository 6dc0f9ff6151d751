// Ends a command that cannot find its packages, with one sentence. It is preloaded because a
// command's imports run first, and plain JavaScript because without the packages it runs on
// whatever Node.js the machine has.
import { existsSync } from 'node:fs';

if (!existsSync(new URL('../node_modules/.package-lock.json', import.meta.url))) {
  process.stderr.write('The packages are not installed: run "npm ci" first.\n');
  process.exit(1);
}
