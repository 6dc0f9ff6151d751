import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
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

/** Checks that the run failed and left no file that looks complete, only `.part` files and a lock. */
export async function expectNothingComplete(folder: string, finished: Finished): Promise<void> {
  assert.notEqual(finished.status, 0, 'it succeeded, but should have failed');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && !/\.(?:part|lock)$/.test(entry.name))
    .map(({ name }) => name);
  assert.deepEqual(names, [], 'files that look complete');
}

/** Reads a CSV file, whose carriage returns must be quoted: most programs take an unquoted one for the end of a record. */
export async function readCsv(folder: string, name: string): Promise<Row[]> {
  const file = await readFile(join(folder, name));
  const unquoted = file.toString('latin1').replaceAll(/"[^"]*"/g, '');
  assert.ok(!unquoted.includes('\r'), `${name} has a carriage return that is not quoted`);
  return parseCsv(file);
}

/** Creates a folder with the files that the download recipes save. */
export async function folderWithFiles(trial: Trial): Promise<string> {
  const folder = await trial.folder();
  await writeFile(join(folder, 'responses.csv'), (await trial.get('/responses/csv')).body);
  await writeFile(join(folder, 'responses.ndjson'), (await trial.get('/responses/ndjson')).body);
  await writeFile(join(folder, 'form-data.csv'), (await trial.get('/responses/form-data')).body);
  return folder;
}

/** Checks that the recipe fails, and names the file, in a folder without files. */
export async function expectFileNeeded(trial: Trial, name: string, args: readonly string[] = []): Promise<void> {
  const folder = await trial.folder();
  const finished = await trial.run(folder, { args });
  await expectNothingComplete(folder, finished);
  assert.ok(finished.stderr.includes(name), `it did not name ${name}: ${finished.stderr}`);
}

/** A recipe cannot be run here. */
export class NotRun extends Error {
  override name = 'NotRun';
}

/** @param program fails if a library is not installed. @throws NotRun */
export async function requireLibrary(trial: Trial, name: string, program: string): Promise<void> {
  const script = join(await trial.folder(), 'probe');
  await writeFile(script, program);
  const { status } = await trial.interpreter.run(script, {});
  if (status !== 0) throw new NotRun(`${name} is not installed`);
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
