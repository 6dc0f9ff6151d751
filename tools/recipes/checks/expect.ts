import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCsv } from '../../../test/support/csv.ts';
import type { Ended } from '../programs.ts';
import type { Trial } from '../trial.ts';

/** A recipe's result, held against the service: throws when it is not right, returns what was found in some words. */
export type Check = (trial: Trial) => Promise<string>;

export type Row = Record<string, string | null>;

export function expectSuccess({ status, stdout, stderr }: Ended): void {
  assert.equal(status, 0, `it ended with status ${status}: ${stderr || stdout}`);
}

export async function expectFile(path: string, expected: Buffer): Promise<string> {
  const found = await readFile(path);
  const [sum, expectedSum] = [found, expected].map((bytes) => createHash('sha256').update(bytes).digest('hex'));
  assert.equal(sum, expectedSum, `${path}: ${found.length} bytes, ${expected.length} expected`);
  return `SHA-256 ${sum?.slice(0, 8)}…`;
}

/** A failed run leaves nothing that looks complete: no file but those named `.part`. */
export async function expectNothingComplete(folder: string, ended: Ended): Promise<void> {
  assert.notEqual(ended.status, 0, 'it ended as if nothing had happened');
  const names = (await readdir(folder)).filter((name) => !name.endsWith('.part') && name !== 'responses.headers');
  assert.deepEqual(names, [], 'there are files that look complete');
}

/** Of a run whose connection broke off: it has failed, or has tried again of itself, and then the result is right. */
export async function expectAllOrNothing(
  folder: string,
  ended: Ended,
  expectAll: () => Promise<unknown>,
): Promise<void> {
  await (ended.status === 0 ? expectAll() : expectNothingComplete(folder, ended));
}

export async function readCsv(folder: string, name: string): Promise<Row[]> {
  return parseCsv(await readFile(join(folder, name)));
}

/** Compares some columns of all rows, in order; the first row that differs is told. */
export function expectRows(found: readonly Row[], expected: readonly Row[], columns: readonly string[]): string {
  assert.equal(found.length, expected.length, 'number of rows');
  for (const [index, row] of expected.entries())
    assert.deepEqual(pick(found[index], columns), pick(row, columns), `row ${index + 1}`);
  return `${found.length} rows, ${columns.length} columns`;
}

/** Where the reader cannot tell a missing value from an empty text. */
export function withoutNulls(rows: readonly Row[]): Row[] {
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, cell ?? ''])));
}

function pick(row: Row | undefined, columns: readonly string[]): Row {
  return Object.fromEntries(columns.map((name) => [name, row?.[name] ?? null]));
}
