import { afterEach, expect, test } from 'vitest';
import { fetchApi, query } from '../support/api.ts';
import { sql, storeSurvey } from '../support/data.ts';
import { eventsIn } from '../support/request-log.ts';
import { startFaultyService } from './service.ts';

// What the owner of a database or of a role can set, which every new connection has.

const service = await startFaultyService();
const survey = await storeSurvey(
  ['=1+1', 'a\\b', '-A. x\n-B. y\n-C. 10:30', '🎉'.repeat(3), '1.1'].map((text, i) => ({
    form: i % 2,
    userid: `u${i}`,
    question_ref: `q${i}`,
    question_text: `${text}\n- A. ten\\\n- B. twenty`,
    response: i === 4 ? 'B' : text,
    timestamp: `2026-03-0${i + 1}T00:03:43.7${'70047'.slice(0, i)}Z`,
    metadata: JSON.stringify({ n: 1e21, seed: 7, text }),
  })),
);

const ENDPOINTS: Record<string, Record<string, string>[]> = {
  '': [
    { pageSize: '3', count: 'true' },
    { order: 'desc', since: '2026-03-02' },
  ],
  '/csv': [
    { safe: 'true', metadata: 'text', arm: 'seed_25_2' },
    { layout: 'wide', value: 'translated_label', timing: 'true' },
  ],
  '/ndjson': [{}],
  '/form-data': [{}],
  '/questions': [{}],
  '/summary': [{ timezone: 'Asia/Kolkata' }],
  '/answers': [{ value: 'label' }],
  '/digests': [{}],
};
const PATHS = Object.entries(ENDPOINTS).flatMap(([path, requests]) =>
  requests.map((one) => `/responses${path}${query({ survey: survey.name, ...one })}`),
);
const readAll = () =>
  Promise.all(PATHS.map(async (path) => [path, (await fetchApi(path, survey.account)).text]));
const unset = await readAll();

/** Sets something for the database. The gateway's sessions get it when they are reset. */
async function setForDatabase(setting: string): Promise<void> {
  const [database] = await sql<{ name: string }>('select current_database() as name');
  await sql(`alter database ${database?.name} ${setting}`);
  await sql(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );
}
afterEach(() => setForDatabase('reset all'));

test.each([
  `set standard_conforming_strings = off`,
  `set timezone = 'Asia/Kolkata'`,
  `set datestyle = 'ISO, DMY'`,
  `set intervalstyle = 'iso_8601'`,
  `set bytea_output = 'escape'`,
  `set extra_float_digits = -15`,
  `set quote_all_identifiers = on`,
  `set xmlbinary = 'hex'`,
])('no byte depends on it: %s', async (setting) => {
  await setForDatabase(setting);
  expect(await readAll()).toEqual(unset);
});

test('times that are printed in another style are refused, and the log names the setting', async () => {
  await setForDatabase(`set datestyle = 'German'`);
  const { status, text } = await fetchApi(PATHS[0] as string, survey.account);
  expect([status, text]).toEqual([500, expect.stringContaining('Something went wrong')]);
  expect(JSON.stringify(eventsIn(service.stack.worker, 'request failed'))).toContain('DateStyle');
});
