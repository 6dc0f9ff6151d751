import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCsv } from '../../support/csv.ts';
import type { Finished } from '../programs.ts';
import type { Trial } from '../trial.ts';

/** Compares a recipe's result with the service. Throws if it is wrong; returns a summary for the report. */
export type Check = (trial: Trial) => Promise<string>;

export type Row = Record<string, string | null>;

export function expectSuccess({ status, stdout, stderr }: Finished): void {
  assert.equal(status, 0, `it exited with status ${status}: ${stderr || stdout}`);
}

export async function expectFile(path: string, expected: Buffer): Promise<string> {
  const found = await readFile(path);
  const [sum, expectedSum] = [found, expected].map((bytes) => createHash('sha256').update(bytes).digest('hex'));
  assert.equal(sum, expectedSum, `${path}: ${found.length} bytes, ${expected.length} expected`);
  return `SHA-256 ${sum?.slice(0, 8)}…`;
}

/** Checks that the run failed and left no file that looks complete, only `.part` files. */
export async function expectNothingComplete(folder: string, finished: Finished): Promise<void> {
  assert.notEqual(finished.status, 0, 'it succeeded, but should have failed');
  const names = (await readdir(folder)).filter((name) => !name.endsWith('.part') && name !== 'responses.headers');
  assert.deepEqual(names, [], 'files that look complete');
}

/** Checks that a recipe whose connection broke either failed, or retried and produced the right result. */
export async function expectAllOrNothing(
  folder: string,
  finished: Finished,
  expectAll: () => Promise<unknown>,
): Promise<void> {
  await (finished.status === 0 ? expectAll() : expectNothingComplete(folder, finished));
}

export async function readCsv(folder: string, name: string): Promise<Row[]> {
  return parseCsv(await readFile(join(folder, name)));
}

/** Compares some columns of all rows, in order. */
export function expectRows(found: readonly Row[], expected: readonly Row[], columns: readonly string[]): string {
  assert.equal(found.length, expected.length, 'number of rows');
  for (const [index, row] of expected.entries())
    assert.deepEqual(pick(found[index], columns), pick(row, columns), `row ${index + 1}`);
  return `${found.length} rows, ${columns.length} columns`;
}

/** For programs that do not distinguish a missing value from an empty text. */
export function withoutNulls(rows: readonly Row[]): Row[] {
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, cell ?? ''])));
}

function pick(row: Row | undefined, columns: readonly string[]): Row {
  return Object.fromEntries(columns.map((name) => [name, row?.[name] ?? null]));
}
