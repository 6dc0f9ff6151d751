import assert from 'node:assert/strict';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkDownload, checkWaiting } from './downloads.ts';
import { type Check, expectFile, expectNothingComplete, expectSuccess } from './expect.ts';
import { cutAfter, noFault, shortenTo } from '../faults.ts';

export const curlChecks: Record<string, Check> = {
  async 'curl/list-surveys.sh'(trial) {
    const folder = await trial.folder();
    expectSuccess(await trial.run(folder));
    const { body } = await trial.get('/surveys', {});
    return `${await expectFile(join(folder, 'surveys.json'), body)}; ${await checkWaiting(trial)}`;
  },

  'curl/download-csv.sh': checkDownload,

  async 'curl/download-month.sh'(trial) {
    const folder = await trial.folder();
    expectSuccess(await trial.run(folder));
    const { body } = await trial.get('/responses/csv', {
      survey: trial.survey,
      since: '2026-02-01',
      until: '2026-03-01',
    });
    const whole = await trial.get('/responses/csv');
    assert.ok(
      body.length > 0 && body.length < whole.body.length && whole.body.includes(body.subarray(body.indexOf('\n'))),
    );
    const sum = await expectFile(join(folder, 'responses-2026-02.csv'), body);
    const broken = await trial.folder();
    await expectNothingComplete(broken, await trial.run(broken, { faults: [cutAfter(100_000)] }));
    return `${sum}; no partial file when cut`;
  },

  async 'curl/page-through.sh'(trial) {
    const folder = await trial.folder();
    expectSuccess(await trial.run(folder));
    const pages = await readdir(join(folder, 'pages'));
    const rows = [];
    for (const page of pages.toSorted()) {
      const text = await readFile(join(folder, 'pages', page), 'utf8');
      rows.push(text.slice('{"responses":['.length, -']}'.length));
    }
    const { body } = await trial.get('/responses/ndjson');
    assert.equal(rows.join(','), body.toString().trimEnd().replaceAll('\n', ','), 'the pages differ from the export');
    const broken = await trial.folder();
    await expectNothingComplete(broken, await trial.run(broken, { faults: [noFault, cutAfter(100_000)] }));
    return `${pages.length} pages, byte for byte the NDJSON export; no partial file when cut; ${await checkWaiting(trial)}`;
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
    const refused = await trial.folder();
    await expectNothingComplete(refused, await trial.run(refused, { key: 'sres_wrong' }));
    return `${sum} over ${finished.requests} connections, and from 7 partial files; no partial file when shortened or refused`;
  },

  async 'excel/download-for-excel.sh'(trial) {
    const folder = await trial.folder();
    expectSuccess(await trial.run(folder));
    const { body } = await trial.get('/responses/csv', { survey: trial.survey, bom: 'true', safe: 'true' });
    assert.ok(body.subarray(0, 3).equals(Buffer.from('\uFEFF')) && body.includes("'=1+1"));
    const sum = await expectFile(join(folder, 'responses-for-excel.csv'), body);
    const broken = await trial.folder();
    await expectNothingComplete(broken, await trial.run(broken, { faults: [cutAfter(100_000)] }));
    return `${sum}; no partial file when cut`;
  },
};
