// npm run check:supply-chain: what this project takes from others, and on which terms.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { runCommand } from './command.ts';
import { buildWorker } from './deploy/build.ts';
import { readAdvisories } from './supply-chain/advisories.ts';
import { bundledProblems, packagesIn } from './supply-chain/bundled.ts';
import { licenceProblems } from './supply-chain/licences.ts';
import { type LockFile, lockProblems } from './supply-chain/lock-file.ts';
import { type Manifest, manifestProblems } from './supply-chain/manifest.ts';

const program = new Command('npm run check:supply-chain --')
  .description(
    'Checks versions, origins and licences of the packages, what is bundled into the Worker, and advisories.',
  )
  .option('--require-advisories', "fail as well when the registry's advisories cannot be had")
  .action(async ({ requireAdvisories = false }: { requireAdvisories?: boolean }) => {
    const manifest = await readJson<Manifest>('package.json');
    const lock = await readJson<LockFile>('package-lock.json');
    const bundled = await bundledPackages();
    const advisories = await readAdvisories();

    const count = Object.keys(lock.packages).length - 1;
    say(`${count} packages in the lock file: versions, origins, licences looked at`);
    say(`${bundled.length} packages in the Worker: ${bundled.join(', ')}`);
    if ('unavailable' in advisories) say(`ADVISORIES WERE NOT CHECKED: ${advisories.unavailable}`);
    else say(`${advisories.found.length} advisories for these packages`);

    const problems = [
      ...manifestProblems(manifest),
      ...lockProblems(lock),
      ...licenceProblems(lock, bundled),
      ...bundledProblems(bundled),
      ...('found' in advisories ? advisories.found : []),
      ...('unavailable' in advisories && requireAdvisories
        ? ['The advisories could not be had; they are required']
        : []),
    ];
    for (const problem of problems) process.stderr.write(`- ${problem}\n`);
    if (problems.length > 0) process.exitCode = 1;
  });

await runCommand(async () => {
  await program.parseAsync();
});

async function readJson<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(new URL(`../${name}`, import.meta.url), 'utf8')) as T;
}

/** Of the Worker as it would be deployed. */
async function bundledPackages(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'survey-export-supply-chain-'));
  try {
    const { inputs } = await buildWorker(folder, { env: 'production', config: 'wrangler.toml' });
    return packagesIn(inputs.keys());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
