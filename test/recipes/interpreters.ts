import { readFile } from 'node:fs/promises';
import { duckdbFromNpm } from './duckdb.ts';
import { type Finished, type RunOptions, runProgram } from './programs.ts';

export type Language = 'curl' | 'python' | 'r' | 'duckdb' | 'workbooks';

/** @param path of a program */
export function languageOf(path: string): Language {
  if (path.endsWith('/read_workbooks.py')) return 'workbooks';
  if (path.endsWith('.sh')) return 'curl';
  if (path.endsWith('.py')) return 'python';
  return path.endsWith('.R') ? 'r' : 'duckdb';
}

/** Runs the recipes of a language. */
export interface Interpreter {
  /** Such as `curl 8.5.0`. */
  readonly version: string;
  run(file: string, options: RunOptions): Promise<Finished>;
}

/** Why a language cannot be run. */
export interface Missing {
  readonly missing: string;
}

type Command = readonly [string, ...string[]];

const PYTHONS = [process.env['PYTHON'], 'python3', '/usr/bin/python3', 'python'].filter((name) => name !== undefined);

const DUCKDB_IN_PYTHON = `
import duckdb, sys
database = duckdb.connect()
for statement in duckdb.extract_statements(sys.stdin.read()):
    if database.execute(statement).description:
        print(database.fetchall())
`;

const withPython = async (modules: readonly string[]): Promise<Interpreter | Missing> => {
  const found = await findPython(modules);
  return 'missing' in found ? found : { version: found.version, run: withFile([found.python, '-B']) };
};

/** Finds a language's interpreter with the libraries that its programs need. */
export const findInterpreter: Record<Language, () => Promise<Interpreter | Missing>> = {
  async curl() {
    const version = await firstLine(['curl', '--version']);
    if (version === undefined) return { missing: 'curl is not installed' };
    if ((await firstLine(['sh', '-c', 'echo yes'])) !== 'yes') return { missing: 'sh is not installed' };
    return { version: version.split(' ').slice(0, 2).join(' '), run: withFile(['sh']) };
  },

  python: () => withPython(['requests', 'pandas', 'survey_export']),

  async r() {
    if ((await firstLine(['Rscript', '-e', 'cat(1)'])) !== '1') return { missing: 'R is not installed' };
    const names = ['httr2', 'readr', 'jsonlite'];
    const versions = names.map((name) => `" ${name}", format(packageVersion("${name}"))`);
    const version = await firstLine(['Rscript', '-e', `cat("R", format(getRversion()), ${versions.join(', ')})`]);
    if (version === undefined) return { missing: `R is installed, but not all of ${names.join(', ')}` };
    return { version: version.replaceAll(/ +/g, ' '), run: withFile(['Rscript']) };
  },

  async duckdb() {
    const version = await firstLine(['duckdb', '--version']);
    if (version !== undefined) return { version: `duckdb ${version}`, run: withInput(['duckdb', '-bail']) };
    const found = await findPython(['duckdb']);
    if (!('missing' in found))
      return { version: found.version, run: withInput([found.python, '-c', DUCKDB_IN_PYTHON]) };
    const fromNpm = await duckdbFromNpm();
    if ('missing' in fromNpm) return { missing: `DuckDB is not installed; ${found.missing}; ${fromNpm.missing}` };
    return { version: fromNpm.version, run: withInput(fromNpm.command) };
  },

  workbooks: () => withPython(['openpyxl', 'pandas', 'python_calamine', 'xlsx2csv']),
};

async function findPython(modules: readonly string[]): Promise<{ python: string; version: string } | Missing> {
  const versions = modules.map((name) => `"${name}", version("${name}")`);
  const code = `import sys, ${modules.join(', ')}; from importlib.metadata import version; print("Python", sys.version.split()[0], ${versions.join(', ')})`;
  let missing = 'Python is not installed';
  for (const python of PYTHONS) {
    const version = await firstLine([python, '-c', code]);
    if (version !== undefined) return { python, version };
    if ((await firstLine([python, '--version'])) !== undefined)
      missing = `Python is installed, but without ${modules.join(' and ')}`;
  }
  return { missing };
}

/** @returns undefined if the program cannot be run or fails */
async function firstLine(command: Command): Promise<string | undefined> {
  const { status, stdout } = await runProgram(command);
  return status === 0 ? stdout.split('\n')[0]?.trim() : undefined;
}

function withFile(command: Command): Interpreter['run'] {
  return (file, options) => runProgram([...command, file], options);
}

function withInput(command: Command): Interpreter['run'] {
  return async (file, options) => await runProgram(command, { ...options, input: await readFile(file, 'utf8') });
}
