/** The part of package-lock.json (version 3) that is looked at. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly license?: string;
}

const REGISTRY = 'https://registry.npmjs.org/';

/** @returns the packages that could be exchanged unnoticed: without a hash, or from somewhere else than npm's registry */
export function lockProblems({ packages }: LockFile): string[] {
  return Object.entries(packages)
    .filter(([path]) => path !== '') // the project itself
    .flatMap(([path, { integrity, resolved, link }]) => {
      if (link) return [`package-lock.json: ${path} is a link to a folder; install it from the registry`];
      const problems: string[] = [];
      if (!integrity?.startsWith('sha512-'))
        problems.push(`package-lock.json: ${path} has no SHA-512; install it again`);
      if (resolved !== undefined && !resolved.startsWith(REGISTRY))
        problems.push(`package-lock.json: ${path} comes from ${resolved}; take it from ${REGISTRY}`);
      return problems;
    });
}

/** @returns the name of the package that is installed at a path such as `node_modules/a/node_modules/@b/c` */
export function packageAt(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
