/**
 * The packages bundled into the Worker. They run with the database's credentials, so adding one is a decision.
 *
 * - hono: routes, headers, CORS; small, and made for Workers
 * - @neondatabase/serverless: Neon's own driver, SQL over HTTP
 */
export const BUNDLED = ['@neondatabase/serverless', 'hono'];

/** @param paths of the files in a bundle */
export function packagesIn(paths: Iterable<string>): string[] {
  const names = [...paths].flatMap((path) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].toSorted();
}

/** @returns one message for each package that is missing from {@link BUNDLED}, or is listed but not bundled */
export function bundledProblems(found: readonly string[]): string[] {
  const list = 'tools/supply-chain/bundled.ts';
  const added = found.filter((name) => !BUNDLED.includes(name));
  const removed = BUNDLED.filter((name) => !found.includes(name));
  return [
    ...added.map((name) => `${name} is now bundled into the Worker; if that is intended, add it to ${list}`),
    ...removed.map((name) => `${name} is no longer bundled into the Worker; remove it from ${list}`),
  ];
}
