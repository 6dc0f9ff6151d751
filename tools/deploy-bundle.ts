// npm run check:bundle: bundles the Worker for every environment, and fails when it has become too large.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError, runCommand } from './command.ts';
import { buildWorker } from './deploy/build.ts';
import { BUDGET_KIB, sizeProblems } from './deploy/bundle-size.ts';

/** "" is the top level of wrangler.toml. */
const ENVIRONMENTS = ['', 'staging', 'production'];

await runCommand(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'survey-export-bundle-'));
  try {
    for (const env of ENVIRONMENTS) {
      const { gzipBytes } = await buildWorker(folder, { env, config: 'wrangler.toml' });
      const size = `${(gzipBytes / 1024).toFixed(1)} KiB under gzip, of ${BUDGET_KIB} KiB`;
      process.stdout.write(`${env || 'top level'}: ${size}\n`);
      for (const problem of sizeProblems(gzipBytes)) throw new UserError(problem);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
