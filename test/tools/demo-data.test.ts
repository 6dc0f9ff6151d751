import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadDemoData } from '../../tools/demo-data.ts';
import { migrate } from '../../tools/migrations.ts';
import { type RunningDatabase, dump, empty, query, startDatabase } from '../support/database.ts';

const study = 'Health & Habits 2026 – Saúde';

async function loadInto(url: string): Promise<{ email: string; surveys: string[] }> {
  await empty(url);
  await migrate(url);
  return await loadDemoData(url);
}

describe('demo data', () => {
  let running: RunningDatabase;
  let loaded: { email: string; surveys: string[] };

  beforeAll(async () => {
    running = await startDatabase();
    loaded = await loadDemoData(running.url);
  });
  afterAll(() => running?.stop());

  async function one(sql: string, params: unknown[] = []): Promise<Record<string, unknown> | undefined> {
    return (await query(running.url, sql, params))[0];
  }

  test('returns the account and its surveys, the study first', async () => {
    expect(loaded).toEqual({ email: 'demo@example.org', surveys: [study, 'Pilot study (nobody asked yet)'] });
    const rows = await query<{ survey_name: string }>(
      running.url,
      `select survey_name from surveys join users on users.id = surveys.userid where email = $1`,
      [loaded.email],
    );
    expect(new Set(rows.map((row) => row.survey_name))).toEqual(new Set(loaded.surveys));
  });

  test('has three forms in two versions each, with responses to both in the same weeks', async () => {
    const versions = await query<{ shortcode: string; first: string; last: string }>(
      running.url,
      `select surveys.shortcode, min(timestamp)::text as first, max(timestamp)::text as last, count(*) > 0
       from surveys join users on users.id = surveys.userid join responses on responses.surveyid = surveys.id
       where email = $1 and survey_name = $2 group by surveys.id order by surveys.shortcode, created`,
      [loaded.email, study],
    );
    expect(versions.map((row) => row.shortcode)).toEqual(
      ['healthfood', 'healthlater', 'healthstart'].flatMap((shortcode) => [shortcode, shortcode]),
    );
    for (let index = 0; index < versions.length; index += 2) {
      expect((versions[index]?.last ?? '') > (versions[index + 1]?.first ?? '')).toBe(true);
    }
  });

  test('has thousands of responses, with everything that is hard to export', async () => {
    const counts = await one(
      `select count(*) > 3000 as thousands,
         bool_or(response ~ '[🌊🥭]') as emoji, bool_or(response ~ '[\\u0600-\\u06ff]') as arabic,
         bool_or(response ~ '[\\u0900-\\u097f]') as hindi, bool_or(response like '%,%') as commas,
         bool_or(response like '%"%') as quotes, bool_or(response like E'%\\n%') as line_breaks,
         bool_or(response = '') as empty, bool_or(response = 'C' and question_text like E'%\\nC) %') as choices, bool_or(translated_response is null) as untranslated,
         bool_or(metadata is null) as no_metadata, bool_or(pageid is null) as no_page, bool_or(metadata ? 'ad_id') as ads,
         bool_or(not metadata ? 'ad_id') as no_ads, bool_or((metadata ->> 'page')::numeric > 2::numeric ^ 53) as big_integers,
         bool_or(date_trunc('milliseconds', timestamp) = timestamp) as milliseconds,
         bool_or(date_trunc('milliseconds', timestamp) <> timestamp) as microseconds,
         count(distinct timestamp) > count(distinct date_trunc('milliseconds', timestamp)) as same_millisecond,
         count(*) > count(distinct timestamp) as same_moment
       from responses`,
    );
    expect(Object.entries(counts ?? {}).filter(([, found]) => found !== true)).toEqual([]);
    expect(Object.keys(counts ?? {})).toHaveLength(19);
  });

  test('has an English translation for exactly the answers in other languages', async () => {
    const wrong = await one(
      `select count(*)::integer as n from responses
       where response !~ '^\\d+$' and metadata is not null
         and (metadata ->> 'language' = 'en') <> (translated_response is null)`,
    );
    expect(wrong).toEqual({ n: 0 });
  });

  test('has a survey without responses', async () => {
    const pilot = await one(
      `select count(distinct surveys.id)::integer as forms, count(responses)::integer as responses
       from surveys left join responses on surveyid = surveys.id where survey_name = $1`,
      [loaded.surveys[1]],
    );
    expect(pilot).toEqual({ forms: 1, responses: 0 });
  });

  test('has a second account whose survey and forms have the same names', async () => {
    const others = await query<{ shortcode: string; responses: number }>(
      running.url,
      `select surveys.shortcode, count(*)::integer as responses
       from users join surveys on surveys.userid = users.id join responses on surveyid = surveys.id
       where email <> $1 and survey_name = $2 group by surveys.id order by surveys.shortcode`,
      [loaded.email, study],
    );
    expect(new Set(others.map((row) => row.shortcode))).toEqual(new Set(['healthfood', 'healthlater', 'healthstart']));
    expect(Math.min(...others.map((row) => row.responses))).toBeGreaterThan(0);
  });

  test('has forms with and without an off time and timeouts', async () => {
    const settings = await one(
      `select count(*)::integer as forms, count(timeouts)::integer as timeouts, count(off_time)::integer as off_times
       from survey_settings`,
    );
    expect(settings).toEqual({ forms: 2, timeouts: 1, off_times: 2 });
  });

  test('refuses a database that has an account, and changes nothing', async () => {
    const before = await dump(running.url);
    await expect(loadDemoData(running.url)).rejects.toThrow('can only be loaded into an empty database');
    expect(await dump(running.url)).toEqual(before);
  });

  test('is the same each time it is loaded', async () => {
    const before = await dump(running.url);
    await loadInto(running.url);
    expect(await dump(running.url)).toEqual(before);
  });
});
