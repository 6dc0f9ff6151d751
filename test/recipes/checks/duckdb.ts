import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCsv } from '../../support/csv.ts';
import type { Trial } from '../trial.ts';
import { type Check, type Row, expectRows, expectSuccess, readCsv } from './expect.ts';
import { JOINED_COLUMNS, joinedRows } from './join.ts';

const NDJSON_COLUMNS = ['surveyid', 'userid', 'question_ref', 'response', 'timestamp', 'translated_response'];

export const duckdbChecks: Record<string, Check> = {
  async 'duckdb/questions.sql'(trial) {
    const expected = parseCsv((await trial.get('/responses/csv')).body);
    const folder = await folderWithFiles(trial);
    expectSuccess(await trial.run(folder));
    const rows = await readParquet(trial, folder, 'responses.parquet');
    return `${expectRows(rows, expected, Object.keys(expected[0] ?? {}))} in Parquet equal the CSV`;
  },

  async 'duckdb/read_ndjson.sql'(trial) {
    const expected = parseCsv((await trial.get('/responses/csv')).body);
    const folder = await folderWithFiles(trial);
    expectSuccess(await trial.run(folder));
    const rows = await readParquet(trial, folder, 'responses-from-ndjson.parquet');
    return `${expectRows(rows, expected, NDJSON_COLUMNS)} in Parquet equal the CSV`;
  },

  async 'duckdb/join_form_data.sql'(trial) {
    const expected = await joinedRows(trial);
    const folder = await folderWithFiles(trial);
    expectSuccess(await trial.run(folder));
    return `${expectRows(await readCsv(folder, 'joined.csv'), expected, JOINED_COLUMNS)}, each with its version`;
  },
};

/** Creates a folder with the files that the recipes read. */
async function folderWithFiles(trial: Trial): Promise<string> {
  const folder = await trial.folder();
  await writeFile(join(folder, 'responses.csv'), (await trial.get('/responses/csv')).body);
  await writeFile(join(folder, 'responses.ndjson'), (await trial.get('/responses/ndjson')).body);
  await writeFile(join(folder, 'form-data.csv'), (await trial.get('/responses/form-data')).body);
  return folder;
}

async function readParquet(trial: Trial, folder: string, name: string): Promise<Row[]> {
  const script = join(folder, 'to-csv.sql');
  await writeFile(script, `copy (from '${name}') to 'parquet.csv' (header, delimiter ',')`);
  expectSuccess(await trial.interpreter.run(script, { cwd: folder }));
  return await readCsv(folder, 'parquet.csv');
}
