import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { csvRecords } from '../../support/csv.ts';
import { readWorkbook } from '../../support/xlsx.ts';
import { checkDownload, checkParticipants, checkWaiting } from './downloads.ts';
import { type Check, expectFile, expectNothingComplete, expectRefused, expectSuccess } from './expect.ts';
import { cutAfter, shortenTo } from '../faults.ts';

export const curlChecks: Record<string, Check> = {
  async 'curl/list-surveys.sh'(trial) {
    const folder = await trial.folder();
    expectSuccess(await trial.run(folder));
    await expectRefused(trial);
    const { body } = await trial.get('/surveys', {});
    return `${await expectFile(join(folder, 'surveys.json'), body)}; ${await checkWaiting(trial)}`;
  },

  'curl/download-csv.sh': checkDownload,
  'curl/participants.sh': checkParticipants,

  async 'curl/codebook.sh'(trial) {
    const folder = await trial.folder();
    expectSuccess(await trial.run(folder));
    const { survey } = trial;
    const codebook = await trial.get('/responses/questions', { survey, format: 'csv' });
    const summary = await trial.get('/responses/summary', { survey, timezone: 'Africa/Nairobi' });
    await expectFile(join(folder, 'summary.json'), summary.body);
    await expectRefused(trial);
    return expectFile(join(folder, 'codebook.csv'), codebook.body);
  },

  async 'curl/resume-download.sh'(trial) {
    const { body } = await trial.get('/responses/ndjson');
    const folder = await trial.folder();
    const faults = [300_000, 0, 1, 1_000_003].map(cutAfter);
    const finished = await trial.run(folder, { faults });
    expectSuccess(finished);
    assert.equal(finished.requests, faults.length + 1);
    const sum = await expectFile(join(folder, 'responses.ndjson'), body);

    const lastLine = body.lastIndexOf('\n', body.length - 2) + 1;
    for (const length of [0, 10, 700_001, lastLine - 1, lastLine, body.length - 1, body.length]) {
      const stopped = await trial.folder();
      await writeFile(join(stopped, 'responses.ndjson.part'), body.subarray(0, length));
      expectSuccess(await trial.run(stopped));
      await expectFile(join(stopped, 'responses.ndjson'), body);
    }
    const shortened = await trial.folder();
    const length = body.indexOf('\n', 500_000) + 1;
    await expectNothingComplete(shortened, await trial.run(shortened, { faults: [shortenTo(length)] }));
    await expectRefused(trial);
    return `${sum} over ${finished.requests} connections, and from 7 partial files; no partial file when shortened or refused`;
  },

  async 'excel/download-for-excel.sh'(trial) {
    const folder = await trial.folder();
    expectSuccess(await trial.run(folder));
    const rows = readWorkbook(await readFile(join(folder, 'responses.xlsx')));
    const { body } = await trial.get('/responses/csv');
    const records = csvRecords(body).map((cells) => cells.map((cell) => cell || null)); // both empty in a workbook
    assert.deepEqual(
      rows,
      records.map((cells) => cells.slice(0, cells.findLastIndex((cell) => cell !== null) + 1)),
    );
    const broken = await trial.folder();
    await expectNothingComplete(broken, await trial.run(broken, { faults: [cutAfter(100_000)] }));
    await expectRefused(trial);
    return `${rows.length} rows equal those of the CSV; no partial file when cut or refused`;
  },
};
