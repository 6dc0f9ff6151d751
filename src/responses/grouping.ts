import { type Arm, parseArm } from './arm.ts';

/** A column of the wide file by which its records are grouped: a question's, unless it says other. */
export interface Grouping {
  /** The column's name. */
  readonly name: string;
  /** The key of a column `metadata.<key>`. */
  readonly key?: string;
  /** The arm of a column `arm.<name>`. */
  readonly arm?: Arm;
}

/** The most hashes of an arm. The database computes them, in a tenth of the speed of a file's. */
const MAX_HASHES = 10;

/** @returns undefined for an arm that there is not, or that takes too long to compute */
export function parseGrouping(name: string): Grouping | undefined {
  if (name.startsWith('metadata.')) return { name, key: name.slice('metadata.'.length) };
  if (!name.startsWith('arm.')) return { name };

  const arm = parseArm(name.slice('arm.'.length));
  return arm && arm.hashes <= MAX_HASHES ? { name, arm } : undefined;
}
