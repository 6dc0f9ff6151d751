import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fault } from '../../support/fault-proxy.ts';
import { parseCsv } from '../../support/csv.ts';
import { csvOf } from '../../support/export-files.ts';
import { checkDownload, checkParticipants, checkWaiting } from './downloads.ts';
import {
  type Check,
  expectFile,
  expectFileNeeded,
  expectNothingComplete,
  expectSuccess,
  folderWithFiles,
  readCsv,
  requireLibrary,
} from './expect.ts';
import { checkJoin } from './join.ts';
import { checkPages } from './pages.ts';
import { cutAfter, noFault, shortenTo } from '../faults.ts';
import { checkMistakes, sentenceOf } from './mistakes.ts';
import { writeTestVectors } from '../test-vectors.ts';

/** All but metadata, which the recipe reformats, and ad_id, which pages do not have. */
const PAGE_COLUMNS = [
  ...['parent_surveyid', 'parent_shortcode', 'surveyid', 'flowid', 'userid', 'question_ref', 'question_idx'],
  ...['question_text', 'response', 'timestamp', 'pageid', 'translated_response'],
];

/** SQL that adds responses with earlier times than others, and changes or deletes responses. */
const ADD_LATE = `
  insert into responses
  select (jsonb_populate_record(row, jsonb_build_object('userid', 'late'))).*
  from (select r as row from responses r order by timestamp limit 2) early`;
const EDIT_LATE = `update responses set response = response || '.' where userid = 'late'`;
const DELETE_LATE = `delete from responses where userid = 'late'`;
const DELETE_ONE = `delete from responses where timestamp = (select min(timestamp) from responses where userid <> 'late')`;
const EDIT_NEWEST = `update responses set response = response || '.' where timestamp = (select max(timestamp) from responses)`;
const DELETE_NEWEST = `delete from responses where timestamp = (select max(timestamp) from responses)`;

/** SQL that makes nulls and empty texts. */
const HARD_NULLS = `
  update responses
  set metadata = case when question_idx % 2 = 0 then jsonb 'null' end, pageid = '', translated_response = ''
  where timestamp >= '2026-02-10T10:00:05Z' and timestamp < '2026-02-10T10:00:10Z'`;

/** Other recipes expect an object, or none. */
const WITHOUT_JSON_NULLS = `update responses set metadata = null where metadata = 'null'`;

export const pythonChecks: Record<string, Check> = {
  'python/download_csv.py': checkDownload,

  'python/page_through.py': (trial) => checkPages(trial, PAGE_COLUMNS),

  async 'python/pull_new.py'(trial) {
    const folder = await trial.folder();
    const stateFile = join(folder, 'pulls', 'state.json');
    const pulls = async () =>
      (await readdir(join(folder, 'pulls'))).filter((name) => name.endsWith('.ndjson')).toSorted();
    const expectAll = async () => {
      const files = await Promise.all((await pulls()).map((name) => readFile(join(folder, 'pulls', name))));
      assert.ok(Buffer.concat(files).equals((await trial.get('/responses/ndjson')).body));
    };
    const change = (sql: string) => () => trial.sql(sql);
    /** Runs it with a fault of the download, which comes after two requests the first time, and then after three. */
    const runWith = (fault: Fault) =>
      trial.run(folder, { faults: [noFault, noFault, ...(existsSync(stateFile) ? [noFault] : []), fault] });

    for (const fault of [cutAfter(50_000), shortenTo(1_000), change(ADD_LATE)]) {
      assert.equal((await runWith(fault)).status, 1);
      assert.deepEqual(await pulls(), []);
    }
    await trial.sql(DELETE_LATE);
    expectSuccess(await trial.run(folder));
    await expectAll();
    expectSuccess(await trial.run(folder));
    assert.deepEqual(await pulls(), ['000001.ndjson']);

    await trial.addResponses('2026-05-10T10');
    for (const fault of [cutAfter(1_000), shortenTo(1_000), change(EDIT_NEWEST)]) {
      assert.equal((await runWith(fault)).status, 1);
      assert.deepEqual(await pulls(), ['000001.ndjson']);
    }
    await writeFile(join(folder, 'pulls', '000002.ndjson'), 'of a run that was stopped');
    expectSuccess(await runWith(change(ADD_LATE))); // on a day that this run does not download
    assert.equal((await trial.run(folder)).status, 3);
    await trial.sql(DELETE_LATE);
    expectSuccess(await trial.run(folder));
    assert.deepEqual(await pulls(), ['000001.ndjson', '000002.ndjson']);
    await expectAll();

    const changes = [`${ADD_LATE}; ${EDIT_LATE}; ${DELETE_ONE}`, EDIT_LATE, DELETE_LATE, ADD_LATE, DELETE_NEWEST];
    for (const sql of changes) {
      await trial.sql(sql);
      const finished = await trial.run(folder);
      assert.equal(finished.status, 3, `it did not notice: ${sql}`);
      assert.match(
        sentenceOf(finished),
        /^since the last run, responses were stored late, edited or deleted, the earliest on 2026-/,
      );
      assert.equal(finished.stdout, '');
      await rm(join(folder, 'pulls'), { recursive: true });
      expectSuccess(await trial.run(folder));
      await expectAll();
    }
    await rm(join(folder, 'pulls', '000001.ndjson'));
    assert.match(sentenceOf(await trial.run(folder)), /^pulls does not have the files/);
    return `two pulls equal the whole export; late, edited and deleted responses are noticed; ${await checkMistakes(trial)}; ${await checkWaiting(trial)}`;
  },

  async 'python/resume_download.py'(trial) {
    const { body } = await trial.get('/responses/csv');
    const folder = await trial.folder();
    const faults = [noFault, ...[10, 30_000, 0, 1, 50_003].map(cutAfter)];
    const finished = await trial.run(folder, { faults });
    expectSuccess(finished);
    assert.equal(finished.requests, faults.length + 1);
    const sum = await expectFile(join(folder, 'responses.csv'), body);

    // After the header, inside a cell with line breaks, one byte short, complete, and at some other offsets.
    const lengths = [
      body.indexOf('\n') + 1,
      body.indexOf('Windows\r\nline') + 9,
      ...[body.length - 1, body.length],
      ...Array.from({ length: 6 }, (_, i) => Math.floor((body.length * (i + 0.37)) / 6)),
    ];
    for (const length of lengths) {
      const stopped = await trial.folder();
      await writeFile(join(stopped, 'responses.csv.part'), body.subarray(0, length));
      expectSuccess(await trial.run(stopped));
      await expectFile(join(stopped, 'responses.csv'), body).catch((cause: unknown) => {
        throw new Error(`from a partial file of ${length} bytes`, { cause });
      });
    }
    const shortened = await trial.folder();
    const length = body.indexOf('\n', body.indexOf(',consent,', 500_000)) + 1;
    await expectNothingComplete(shortened, await trial.run(shortened, { faults: [noFault, shortenTo(length)] }));
    return `${sum} over ${finished.requests} connections, and from ${lengths.length} partial files; ${await checkMistakes(trial)}; ${await checkWaiting(trial)}`;
  },

  async 'python/digests.py'(trial) {
    const { survey } = trial;
    await trial.sql(HARD_NULLS);
    const files = ['responses.csv', 'form-data.csv'];
    const folder = await folderWithFiles(trial);
    const expectDigests = async (args: readonly string[], expected: string) => {
      const finished = await trial.run(folder, { args });
      expectSuccess(finished);
      assert.equal(finished.stdout, `${expected}\n`);
    };
    const { body: day } = await trial.get('/responses/digests');
    await expectDigests(files, day.toString());
    for (const interval of ['hour', 'month']) {
      const { body } = await trial.get('/responses/digests', { survey, interval });
      await expectDigests([...files, '--interval', interval], body.toString());
    }
    const csv = await readFile(join(folder, 'responses.csv'));
    await writeFile(join(folder, 'backwards.csv'), csvOf(parseCsv(csv).toReversed()));
    await expectDigests(['backwards.csv', 'form-data.csv'], day.toString());
    const since = { survey, since: '2026-02-10T10:00:03Z', metadata: 'platform' };
    await writeFile(join(folder, 'part.csv'), (await trial.get('/responses/csv', since)).body);
    const { body: part } = await trial.get('/responses/digests', since);
    await expectDigests(['part.csv', 'form-data.csv'], part.toString());
    await trial.sql(WITHOUT_JSON_NULLS);

    const wide = (await trial.get('/responses/csv', { survey, layout: 'wide' })).body;
    const [formHeader = '', ...forms] = (await readFile(join(folder, 'form-data.csv'), 'utf8')).split('\n');
    const damaged: [name: string, contents: string | Buffer, message: RegExp][] = [
      ['responses.csv', '', /^responses\.csv is incomplete/],
      ['responses.csv', csv.subarray(0, csv.indexOf('Windows\r\nline') + 9), /^responses\.csv is incomplete/],
      ['responses.csv', csv.subarray(0, -1), /^responses\.csv is incomplete/],
      ['responses.csv', Buffer.concat([csv, Buffer.from('a,b\n')]), /^responses\.csv is incomplete/],
      ['responses.csv', wide, /^responses\.csv has no column surveyid\.$/],
      ['form-data.csv', `${formHeader}\n${forms.slice(1).join('\n')}`, /form version that is not in form-data\.csv/],
    ];
    for (const [name, contents, message] of damaged) {
      const other = await folderWithFiles(trial);
      await writeFile(join(other, name), contents);
      const finished = await trial.run(other, { args: files });
      assert.equal(finished.stdout, '');
      assert.equal(finished.status, 1);
      assert.match(sentenceOf(finished), message);
    }
    await expectFileNeeded(trial, 'form-data.csv', files);

    const { digests } = await writeTestVectors(folder);
    await expectDigests(files, digests);
    return `equals the service for three intervals, a part, and any order, and the test vectors; ${damaged.length} damaged files`;
  },

  'python/participants.py': checkParticipants,

  'python/join_form_data.py': (trial) => checkJoin(trial, ['shortcode', 'version', 'platform', 'wave']),

  async 'python/preprocess.py'(trial) {
    await requireLibrary(trial, 'vlab_prepro', 'import vlab_prepro');
    const folder = await folderWithFiles(trial);
    const wrong = await trial.run(folder, { args: ['platfrom'] });
    assert.match(wrong.stderr, /All participants are left out: .* "platfrom"/);
    await assert.rejects(readCsv(folder, 'preprocessed.csv'));
    expectSuccess(await trial.run(folder, { args: ['platform'] }));
    await expectFileNeeded(trial, 'responses.csv', ['platform']);
    const forms = new Map(
      parseCsv((await trial.get('/responses/form-data')).body).map((row) => [row['surveyid'], row]),
    );
    const flows = new Map<string, Set<string | null>>();
    const dropped = new Set<string | null>();
    const users = new Set<string | null>();
    for (const { userid = null, surveyid, flowid = null, metadata } of parseCsv(
      (await trial.get('/responses/csv')).body,
    )) {
      users.add(userid);
      if (!(JSON.parse(metadata ?? '{}') as { platform?: string }).platform) dropped.add(userid);
      const form = `${userid} ${forms.get(surveyid)?.['shortcode']}`;
      flows.set(form, (flows.get(form) ?? new Set()).add(flowid));
      if ((flows.get(form)?.size ?? 0) > 1) dropped.add(userid);
    }
    const found = new Set((await readCsv(folder, 'preprocessed.csv')).map((row) => row['userid'] ?? null));
    assert.ok(dropped.size > 0 && found.size > 0);
    assert.deepEqual(found, new Set([...users].filter((user) => !dropped.has(user))));
    return `${found.size} of ${users.size} participants, also where metadata is null`;
  },
};
