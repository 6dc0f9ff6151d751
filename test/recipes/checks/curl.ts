import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { csvRecords } from '../../support/csv.ts';
import { readWorkbook } from '../../support/xlsx.ts';
import { checkDownload, checkParticipants, checkWaiting } from './downloads.ts';
import { type Check, expectFile, expectNothingComplete, expectSuccess } from './expect.ts';
import { busy, cutAfter, noFault, shortenTo } from '../faults.ts';
import { checkMistakes, sentenceOf } from './mistakes.ts';

export const curlChecks: Record<string, Check> = {
  async 'curl/list-surveys.sh'(trial) {
    const folder = await trial.folder();
    expectSuccess(await trial.run(folder));
    const { body } = await trial.get('/surveys', {});
    const sum = await expectFile(join(folder, 'surveys.json'), body);
    return `${sum}; ${await checkMistakes(trial, { needsSurvey: false })}; ${await checkWaiting(trial)}`;
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
    const sum = await expectFile(join(folder, 'codebook.csv'), codebook.body);
    const broken = await trial.folder();
    await expectNothingComplete(broken, await trial.run(broken, { faults: [noFault, cutAfter(100)] }));
    return `${sum}; no partial file when cut; ${await checkMistakes(trial)}`;
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
    const waited = await trial.folder();
    expectSuccess(await trial.run(waited, { faults: [busy(429, 1), cutAfter(1000), busy(503, 1)] }));
    await expectFile(join(waited, 'responses.ndjson'), body);
    return `${sum} over ${finished.requests} connections, and from 7 partial files; ${await checkMistakes(trial)}`;
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
    const finished = await trial.run(broken, { faults: [cutAfter(100_000)] });
    await expectNothingComplete(broken, finished);
    sentenceOf(finished);
    return `${rows.length} rows equal those of the CSV; no partial file when cut; ${await checkMistakes(trial)}`;
  },
};
