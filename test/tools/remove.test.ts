import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withConnection } from '../../tools/connection.ts';
import { removeSurvey } from '../../tools/remove/remove-survey.ts';
import { type RunningDatabase, dump, empty, query, startDatabase } from '../support/database.ts';
import { csvOf, formId, formRow, responseRow, secondFormId } from '../support/export-files.ts';
import { loadFiles } from '../support/load-files.ts';
import { type Outcome, startTool, withoutDatabase } from '../support/run-tool.ts';

const otherSurvey = '3f1c6c5e-0000-4000-8000-000000000003';
const otherAccount = '3f1c6c5e-0000-4000-8000-000000000004';

describe('npm run db:remove', () => {
  let running: RunningDatabase;
  let folder: string;

  beforeAll(async () => {
    running = await startDatabase();
    folder = await mkdtemp(join(tmpdir(), 'test-remove-'));
  });
  afterAll(async () => {
    await running?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    await empty(running.url);
    const created = '2026-02-01T00:00:00Z';
    await loadFiles(running.url, folder, {
      forms: csvOf([
        formRow({ survey_name: 'A' }),
        formRow({ survey_name: 'A', surveyid: secondFormId, version: '2', survey_created: created }),
        formRow({ survey_name: 'B', surveyid: otherSurvey }),
      ]),
      responses: csvOf([
        responseRow({ userid: '1' }),
        responseRow({ userid: '1', surveyid: secondFormId, timestamp: '2026-03-02T00:00:00Z' }),
        responseRow({ userid: '2', timestamp: '2026-03-03T23:59:59.999Z' }),
        responseRow({ userid: '1', surveyid: otherSurvey }),
      ]),
    });
    await loadFiles(running.url, folder, {
      email: 'bob@example.org',
      forms: csvOf([formRow({ survey_name: 'A', surveyid: otherAccount })]),
      responses: csvOf([responseRow({ userid: '1', surveyid: otherAccount })]),
    });
    await query(running.url, `insert into survey_settings (surveyid) values ('${formId}'), ('${otherSurvey}')`);
  });

  const run = async (...args: string[]): Promise<Outcome> => {
    const outcome = await startTool('remove.ts', args, { DATABASE_URL: running.url }).outcome;
    return { ...outcome, stderr: withoutDatabase(outcome.stderr) };
  };
  const surveyA = ['--email', 'Ann@Example.org', '--survey', 'A'];

  test('shows what it would delete, and deletes nothing without --yes', async () => {
    const before = await dump(running.url);
    expect(await run(...surveyA)).toEqual({
      status: 0,
      stdout:
        'account ann@example.org, survey "A"\n' +
        'would delete 3 responses of 2 participants, from 2026-03-01 00:03:43Z to 2026-03-03 23:59:59Z\n' +
        'would delete 2 form versions\n' +
        'nothing was deleted: repeat the command with --yes to delete this\n',
      stderr: '',
    });
    expect(await dump(running.url)).toEqual(before);
  });

  test('deletes a survey with --yes, and nothing from other surveys and accounts', async () => {
    expect(await run(...surveyA, '--yes')).toEqual({
      status: 0,
      stdout:
        'account ann@example.org, survey "A"\n' +
        'deleted 3 responses of 2 participants, from 2026-03-01 00:03:43Z to 2026-03-03 23:59:59Z\n' +
        'deleted 2 form versions\n',
      stderr: '',
    });
    const ids = [otherSurvey, otherAccount].map((id) => ({ id }));
    expect(await query(running.url, 'select id from surveys order by id')).toEqual(ids);
    expect(await query(running.url, 'select surveyid as id from responses order by 1')).toEqual(ids);
    expect(await query(running.url, 'select surveyid as id from survey_settings')).toEqual([{ id: otherSurvey }]);
    expect(await query(running.url, 'select from users')).toHaveLength(2);
  });

  test("deletes only one participant's responses with --userid", async () => {
    expect(await run(...surveyA, '--userid', '1', '--yes')).toEqual({
      status: 0,
      stdout:
        'account ann@example.org, survey "A"\n' +
        'deleted 2 responses of 1 participant, from 2026-03-01 00:03:43Z to 2026-03-02 00:00:00Z\n',
      stderr: '',
    });
    expect(await query(running.url, 'select surveyid, userid from responses order by 1')).toEqual([
      { surveyid: formId, userid: '2' },
      { surveyid: otherSurvey, userid: '1' },
      { surveyid: otherAccount, userid: '1' },
    ]);
    expect(await query(running.url, 'select from surveys')).toHaveLength(4);
    expect(await query(running.url, 'select from survey_settings')).toHaveLength(2);
  });

  test('deletes responses that another session is adding', async () => {
    await withConnection(running.url, async (other) => {
      await other.query('begin');
      await other.query(`insert into responses select (r).* from (
        select jsonb_populate_record(r, '{"userid":"3"}') as r from responses r where surveyid = '${formId}' limit 1) s`);
      const removed = run(...surveyA, '--yes');
      const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      await expect.poll(() => query(running.url, waiting)).toHaveLength(1);
      await other.query('commit');
      expect(await removed).toMatchObject({ status: 0, stdout: expect.stringContaining('deleted 4 responses of 3 ') });
    });
  });

  test.each([
    ['an unknown account', { email: 'eve@example.org' }, '--email: there is no account "eve@example.org"'],
    ['an unknown survey', { survey: 'C' }, '--survey: there is no survey "C": the account has "A", "B"'],
    ['an unknown participant', { userid: '3' }, '--userid: "3" has no responses in this survey'],
  ])('refuses %s', async (_, target, message) => {
    const before = await dump(running.url);
    const all = { email: 'ann@example.org', survey: 'A', ...target };
    await expect(removeSurvey(running.url, all, { isConfirmed: true })).rejects.toThrow(message);
    expect(await dump(running.url)).toEqual(before);
  });

  test('refuses to run without a survey', async () => {
    const { status, stdout, stderr } = await run('--email', 'ann@example.org', '--yes');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain("error: required option '--survey <name>' not specified");
  });
});
