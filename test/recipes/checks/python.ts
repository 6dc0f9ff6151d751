import assert from 'node:assert/strict';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseCsv } from '../../support/csv.ts';
import { csvOf } from '../../support/export-files.ts';
import { checkDownload, checkParticipants, checkWaiting } from './downloads.ts';
import {
  type Check,
  expectFile,
  expectFileNeeded,
  expectSuccess,
  folderWithFiles,
  readCsv,
  requireLibrary,
} from './expect.ts';
import { checkJoin } from './join.ts';
import { checkPages } from './pages.ts';
import { cutAfter, noFault } from '../faults.ts';
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
const DELETE_ONE = `delete from responses where timestamp = (select min(timestamp) from responses)`;

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
    /** Compares the files together with an export. */
    const expectCopy = async () => {
      const files = (await readdir(join(folder, 'data/responses'))).toSorted();
      const days = await Promise.all(
        files.map(async (name) => gunzipSync(await readFile(join(folder, 'data/responses', name)))),
      );
      const records = days.map((day, i) => (i === 0 ? day : day.subarray(day.indexOf('\n') + 1)));
      assert.ok(Buffer.concat(records).equals((await trial.get('/responses/csv')).body));
      return `${files.length} files`;
    };
    expectSuccess(await trial.run(folder));
    await expectCopy();
    const unchanged = await trial.run(folder);
    assert.equal(unchanged.stdout, 'days: 0 added, 0 changed, 0 removed\n');
    assert.equal(unchanged.requests, 1);

    await trial.addResponses('2026-05-10T10');
    for (const sql of ['', ADD_LATE, EDIT_LATE, DELETE_LATE, DELETE_ONE]) {
      await trial.sql(sql);
      expectSuccess(await trial.run(folder));
      await expectCopy();
    }
    return `${await expectCopy()} equal an export, also after late, edited and deleted responses; ${await checkMistakes(trial, { emptyIsMistake: false })}`;
  },

  async 'python/resume_download.py'(trial) {
    const folder = await trial.folder();
    const faults = [noFault, ...[10, 30_000, 0, 1, 50_003].map(cutAfter)];
    const finished = await trial.run(folder, { faults });
    expectSuccess(finished);
    assert.equal(finished.requests, faults.length + 1);
    const sum = await expectFile(join(folder, 'responses.csv'), (await trial.get('/responses/csv')).body);
    return `${sum} over ${finished.requests} connections; ${await checkMistakes(trial)}; ${await checkWaiting(trial)}`;
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
