import { messageOf } from '../command.ts';
import { buildWorker, sizeProblems } from './build.ts';
import { cloudflareProblems } from './cloudflare.ts';
import { type Environment, type Target, configProblems, readEnvironment } from './config.ts';
import { databaseProblems } from './database.ts';

/**
 * Checks everything that a deployed service needs. Changes nothing.
 *
 * @param target.databaseUrl URL of the tables' owner; if undefined, the database is not checked
 * @returns one message for each problem, and for what was not checked
 * @throws UserError if the configuration has no such environment
 */
export async function check({
  databaseUrl,
  ...target
}: Target & { databaseUrl: string | undefined }): Promise<{ problems: string[]; notes: string[] }> {
  const environment = readEnvironment(target);
  const checks = [
    cloudflareProblems(target, environment.secrets?.required ?? []),
    databaseUrl ? databaseProblems(databaseUrl) : Promise.resolve([]),
    buildWorker(target).then(({ gzipBytes }) => sizeProblems(gzipBytes)),
  ];
  const results = await Promise.allSettled(checks);
  const problems = [
    ...configProblems(environment, databaseUrl),
    ...results.flatMap((result) => (result.status === 'fulfilled' ? result.value : [messageOf(result.reason)])),
  ];
  return { problems, notes: notesOn(environment, databaseUrl) };
}

function notesOn({ limits }: Environment, databaseUrl: string | undefined): string[] {
  const notes: string[] = [];
  if (!databaseUrl) notes.push("Database not checked: set DATABASE_URL to the URL of the tables' owner to check it.");
  // Whoever may deploy need not be allowed to read the account's plan.
  if (limits?.cpu_ms !== undefined)
    notes.push(
      'Plan not checked: limits.cpu_ms needs the paid plan of Cloudflare Workers. On the free plan, remove it from wrangler.toml, or the deployment fails (code 100328).',
    );
  return notes;
}
