import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCsv } from '../../support/csv.ts';
import type { Trial } from '../trial.ts';
import {
  type Check,
  type Row,
  expectFileNeeded,
  expectRows,
  expectSuccess,
  folderWithFiles,
  readCsv,
} from './expect.ts';

const NDJSON_COLUMNS = ['surveyid', 'userid', 'question_ref', 'response', 'timestamp', 'translated_response'];

export const duckdbChecks: Record<string, Check> = {
  async 'duckdb/questions.sql'(trial) {
    const expected = parseCsv((await trial.get('/responses/csv')).body);
    const folder = await folderWithFiles(trial);
    expectSuccess(await trial.run(folder));
    await expectFileNeeded(trial, 'responses.csv');
    const rows = await readParquet(trial, folder, 'responses.parquet');
    return `${expectRows(rows, expected, Object.keys(expected[0] ?? {}))} in Parquet equal the CSV`;
  },

  async 'duckdb/read_ndjson.sql'(trial) {
    const expected = parseCsv((await trial.get('/responses/csv')).body);
    const folder = await folderWithFiles(trial);
    expectSuccess(await trial.run(folder));
    await expectFileNeeded(trial, 'responses.ndjson');
    const rows = await readParquet(trial, folder, 'responses-from-ndjson.parquet');
    return `${expectRows(rows, expected, NDJSON_COLUMNS)} in Parquet equal the CSV`;
  },
};

async function readParquet(trial: Trial, folder: string, name: string): Promise<Row[]> {
  const script = join(folder, 'to-csv.sql');
  await writeFile(script, `copy (from '${name}') to 'parquet.csv' (header, delimiter ',')`);
  expectSuccess(await trial.interpreter.run(script, { cwd: folder }));
  return await readCsv(folder, 'parquet.csv');
}
