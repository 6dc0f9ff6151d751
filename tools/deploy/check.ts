import { reasonOf } from '../command.ts';
import { buildWorker, sizeProblems } from './build.ts';
import { cloudflareProblems } from './cloudflare.ts';
import { type Target, configProblems, readEnvironment } from './config.ts';
import { databaseProblems } from './database.ts';

/**
 * Checks everything that a deployed service needs. Changes nothing.
 *
 * @param target.databaseUrl URL of the tables' owner; if undefined, the database is not checked
 * @returns one message for each problem
 * @throws UserError if the configuration has no such environment
 */
export async function check({
  databaseUrl,
  ...target
}: Target & { databaseUrl: string | undefined }): Promise<string[]> {
  const environment = readEnvironment(target);
  const checks = [
    cloudflareProblems(target, environment.secrets?.required ?? []),
    databaseUrl ? databaseProblems(databaseUrl) : Promise.resolve([]),
    buildWorker(target).then(({ gzipBytes }) => sizeProblems(gzipBytes)),
  ];
  const results = await Promise.allSettled(checks);
  return [
    ...configProblems(environment),
    ...results.flatMap((result) => (result.status === 'fulfilled' ? result.value : [reasonOf(result.reason)])),
  ];
}
