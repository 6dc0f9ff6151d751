import { beforeEach, describe, expect, test } from 'vitest';
import { withConnection } from '../../tools/connection.ts';
import { dump, query, startDatabase, untilBlocked } from '../support/database.ts';
import {
  csvOf,
  formId,
  formRow,
  responseRow,
  secondFormId,
  secondFormRow,
} from '../support/export-files.ts';
import { loadFiles } from '../support/load-files.ts';
import { newFolder } from '../support/once-per-run.ts';
import { printed, refusal } from '../support/expected.ts';
import { runHere } from '../support/run-here.ts';

const otherSurvey = '3f1c6c5e-0000-4000-8000-000000000003';
const otherAccount = '3f1c6c5e-0000-4000-8000-000000000004';

const { url } = await startDatabase();
const folder = await newFolder();

describe('npm run db:remove', () => {
  beforeEach(async () => {
    await query(url, 'truncate users cascade');
    await loadFiles(url, folder, {
      forms: csvOf([
        formRow({ survey_name: 'A' }),
        secondFormRow({ survey_name: 'A' }),
        formRow({ survey_name: 'B', surveyid: otherSurvey }),
      ]),
      responses: csvOf([
        responseRow({ userid: '1' }),
        responseRow({ userid: '1', surveyid: secondFormId, timestamp: '2026-03-02T00:00:00Z' }),
        responseRow({ userid: '2', timestamp: '2026-03-03T23:59:59.999Z' }),
        responseRow({ userid: '1', surveyid: otherSurvey }),
      ]),
    });
    const forms = csvOf([formRow({ survey_name: 'A', surveyid: otherAccount })]);
    const responses = csvOf([responseRow({ userid: '1', surveyid: otherAccount })]);
    await loadFiles(url, folder, { email: 'bob@example.org', forms, responses });
    await query(
      url,
      `insert into survey_settings (surveyid) values ('${formId}'), ('${otherSurvey}')`,
    );
  });

  const run = (options = '') =>
    runHere('remove.ts', `--email Ann@example.org --survey A ${options}`, { DATABASE_URL: url });
  const rows = async (table: string, columns: string) =>
    (await query(url, `select ${columns} from ${table} order by 1`)).map((row) =>
      Object.values(row).join(' '),
    );

  test('shows what it would delete, and with --yes deletes that and nothing from other surveys and accounts', async () => {
    const report = (verb: string, ...more: string[]) =>
      printed(
        'account ann@example.org, survey "A"',
        `${verb} 3 responses of 2 participants, from 2026-03-01 00:03:43Z to 2026-03-03 23:59:59Z`,
        `${verb} 2 form versions`,
        ...more,
      );
    const before = await dump(url);
    const hint = 'nothing was deleted: repeat the command with --yes to delete this';
    expect(await run()).toEqual(report('would delete', hint));
    expect(await dump(url)).toEqual(before);
    expect(await run('--yes')).toEqual(report('deleted'));
    expect(await rows('surveys', 'id')).toEqual([otherSurvey, otherAccount]);
    expect(await rows('responses', 'surveyid')).toEqual([otherSurvey, otherAccount]);
    expect(await rows('survey_settings', 'surveyid')).toEqual([otherSurvey]);
    expect(await rows('users', 'email')).toHaveLength(2);
  });

  test("deletes only one participant's responses with --userid", async () => {
    expect(await run('--userid 1 --yes')).toEqual(
      printed(
        'account ann@example.org, survey "A"',
        'deleted 2 responses of 1 participant, from 2026-03-01 00:03:43Z to 2026-03-02 00:00:00Z',
      ),
    );
    expect(await rows('responses', 'surveyid, userid')).toEqual([
      `${formId} 2`,
      `${otherSurvey} 1`,
      `${otherAccount} 1`,
    ]);
    expect(await rows('surveys', 'id')).toHaveLength(4);
    expect(await rows('survey_settings', 'surveyid')).toHaveLength(2);
  });

  test('deletes responses that another session is adding', async () => {
    await withConnection(url, async (other) => {
      await other.query('begin');
      await other.query(`insert into responses select (r).* from (
        select jsonb_populate_record(r, '{"userid":"3"}') as r from responses r where surveyid = '${formId}' limit 1) s`);
      const removed = run('--yes');
      await untilBlocked(url);
      await other.query('commit');
      expect(await removed).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('deleted 4 responses of 3 '),
      });
    });
  });

  test('refuses what does not exist', async () => {
    const before = await dump(url);
    for (const [options, message] of [
      ['--email eve@example.org', '--email: there is no account "eve@example.org".'],
      ['--survey C', '--survey: there is no survey "C": the account has "A", "B"'],
      ['--userid 3', '--userid: "3" has no responses in this survey'],
    ])
      expect(await run(`--yes ${options}`)).toEqual(refusal(`${message}\n`));
    expect(await dump(url)).toEqual(before);
  });
});
