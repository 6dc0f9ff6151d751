/** The part of package.json that is looked at. */
export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** What the Worker may depend on, with the reason. Another name here is a decision: it runs with the database's credentials. */
export const RUNTIME: Readonly<Record<string, string>> = {
  hono: 'routes, headers, CORS; small, and made for Workers',
  zod: 'checks query parameters, and describes them for /openapi.json',
  '@hono/zod-openapi': 'makes /openapi.json from the definitions that check the parameters, so that they cannot differ',
  '@neondatabase/serverless':
    "Neon's own driver: SQL over HTTP, which a Worker can speak without a connection of its own",
};

const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

/** @returns what is not pinned to one version, and what the Worker depends on without being on the list */
export function manifestProblems(manifest: Manifest): string[] {
  const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = manifest;
  const all = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  const loose = all.filter(([, version]) => !EXACT.test(version));
  const unexplained = Object.keys(dependencies).filter((name) => !Object.hasOwn(RUNTIME, name));
  const gone = Object.keys(RUNTIME).filter((name) => !Object.hasOwn(dependencies, name));
  return [
    ...loose.map(([name, version]) => `package.json: ${name} is "${version}"; name one exact version`),
    ...unexplained.map(
      (name) => `package.json: ${name} is a new runtime dependency; give the reason in tools/supply-chain/manifest.ts`,
    ),
    ...gone.map((name) => `tools/supply-chain/manifest.ts lists ${name}, which package.json has no more; remove it`),
  ];
}
