import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reasonOf } from '../command.ts';
import { buildWorker } from './build.ts';
import { sizeProblems } from './bundle-size.ts';
import { cloudflareProblems } from './cloudflare.ts';
import { type Target, configProblems, readEnvironment } from './config.ts';
import { databaseProblems } from './database.ts';

/** What is wrong, one line each, and what there is to say beside. */
export interface Findings {
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Looks for everything that a deployed service needs, and changes nothing.
 *
 * @param target.databaseUrl of the tables' owner; without it the database is not looked at
 * @throws UserError when the file has no such environment
 */
export async function check({
  databaseUrl,
  ...target
}: Target & { databaseUrl: string | undefined }): Promise<Findings> {
  const environment = readEnvironment(target);
  const folder = await mkdtemp(join(tmpdir(), 'survey-export-deploy-'));
  try {
    const database = databaseUrl ? problemsOr(databaseProblems(databaseUrl)) : Promise.resolve([]);
    const bundle = problemsOr(buildWorker(folder, target).then((built) => sizeProblems(built.gzipBytes)));
    const cloudflare = problemsOr(
      cloudflareProblems(target, environment.secrets?.required ?? [], join(folder, 'logs')),
    );
    const found = await Promise.all([cloudflare, database, bundle]);
    return {
      problems: [...configProblems(environment), ...found.flat()],
      notes: databaseUrl
        ? []
        : ["The database was not checked: DATABASE_URL is not set. With the URL of the tables' owner it is."],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A check that cannot be made is a problem as well. */
async function problemsOr(work: Promise<string[]>): Promise<string[]> {
  return work.catch((error: unknown) => [reasonOf(error)]);
}
