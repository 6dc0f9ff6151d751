import { empty, startDatabase } from './database.ts';

/** Creates an empty database on the server that the test files share, which has the Worker's role. @returns the superuser's URL */
export async function createEmptyDatabase(): Promise<string> {
  const { url } = await startDatabase();
  await empty(url);
  return url;
}
