import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from './programs.ts';

/** Installed only if recipes are run without another DuckDB: it is too large (70 MB) for a dependency of the project. */
const PACKAGE = '@duckdb/node-api@1.5.6-r.1';
const folder = fileURLToPath(new URL('../../node_modules/.cache/recipes-duckdb', import.meta.url));

const SCRIPT = `
import { text } from 'node:stream/consumers';
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
const statements = await connection.extractStatements(await text(process.stdin));
for (let i = 0; i < statements.count; i++) {
  const rows = (await (await statements.prepare(i)).runAndReadAll()).getRowsJson();
  if (rows.length > 0) console.log(JSON.stringify(rows));
}
`;

/**
 * Installs DuckDB from npm.
 *
 * @returns a command that runs the SQL on its stdin, or why it cannot be installed
 */
export async function duckdbFromNpm(): Promise<
  { command: [string, ...string[]]; version: string } | { missing: string }
> {
  const script = join(folder, 'run.mjs');
  if (!existsSync(script)) {
    await mkdir(folder, { recursive: true });
    const install = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, PACKAGE];
    const { status, stderr } = await runProgram(['npm', ...install], { cwd: folder });
    if (status !== 0) return { missing: `npm cannot install it (${stderr.trim().split('\n').at(-1) ?? ''})` };
    await writeFile(script, SCRIPT);
  }
  return { command: [process.execPath, script], version: `duckdb ${PACKAGE}` };
}
