/** The packages that the Worker is made of. One that is not here, or is no longer in the Worker, is a change to look at. */
export const BUNDLED = [
  '@asteasolutions/zod-to-openapi',
  '@hono/zod-openapi',
  '@hono/zod-validator',
  '@neondatabase/serverless',
  'hono',
  'zod',
];

/** @param paths of the files that a bundle is made of */
export function packagesIn(paths: Iterable<string>): string[] {
  const names = [...paths].flatMap((path) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].toSorted();
}

export function bundledProblems(found: readonly string[]): string[] {
  const here = 'tools/supply-chain/bundled.ts';
  return [
    ...found
      .filter((name) => !BUNDLED.includes(name))
      .map((name) => `${name} is now part of the Worker; if it is to be, add it to ${here}`),
    ...BUNDLED.filter((name) => !found.includes(name)).map(
      (name) => `${name} is no longer part of the Worker; remove it from ${here}`,
    ),
  ];
}
