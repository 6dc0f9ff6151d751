import { describe, expect, test } from 'vitest';
import { loadDemoData } from '../../tools/demo-data.ts';
import { dump, query, startDatabase } from '../support/database.ts';

const STUDY = 'Health & Habits 2026 – Saúde';

const { url } = await startDatabase();
const loaded = await loadDemoData(url);

describe('demo data', () => {
  test('has a study, a survey without responses, and a second account whose survey and forms have the same names', async () => {
    expect(loaded).toEqual({ email: 'demo@example.org', surveys: [STUDY, 'Pilot study (nobody asked yet)'] });
    const surveys = await query(
      url,
      `select email, survey_name as survey, count(responses) > 0 as has_responses,
         string_agg(distinct surveys.shortcode, ' ') as forms, count(distinct responses.shortcode)::integer as answered
       from users join surveys on surveys.userid = users.id left join responses on surveyid = surveys.id
       group by email, survey_name order by email, survey_name`,
    );
    const forms = 'healthfood healthlater healthstart';
    expect(surveys).toEqual([
      { email: loaded.email, survey: STUDY, has_responses: true, forms, answered: 3 },
      { email: loaded.email, survey: loaded.surveys[1], has_responses: false, forms: 'healthstart', answered: 0 },
      { email: 'other-lab@example.org', survey: STUDY, has_responses: true, forms, answered: 3 },
    ]);
  });

  test('has three forms in two versions each, with responses to both in the same weeks', async () => {
    const forms = await query(
      url,
      `select shortcode, count(*)::integer as versions, min(last) > max(first) as overlap
       from (
         select surveys.shortcode, min(timestamp) as first, max(timestamp) as last
         from surveys join users on users.id = surveys.userid join responses on responses.surveyid = surveys.id
         where email = $1 and survey_name = $2 group by surveys.id
       ) as version group by shortcode order by shortcode`,
      [loaded.email, STUDY],
    );
    const shortcodes = ['healthfood', 'healthlater', 'healthstart'];
    expect(forms).toEqual(shortcodes.map((shortcode) => ({ shortcode, versions: 2, overlap: true })));
  });

  test('has thousands of responses with everything that is hard to export, their translations, and settings', async () => {
    const [counts] = await query(
      url,
      `select count(*) > 3000 as thousands,
         bool_or(response ~ '[🌊🥭]') as emoji, bool_or(response ~ '[\\u0600-\\u06ff]') as arabic,
         bool_or(response ~ '[\\u0900-\\u097f]') as hindi, bool_or(response like '%,%') as commas,
         bool_or(response like '%"%') as quotes, bool_or(response like E'%\\n%') as line_breaks,
         bool_or(response = '') as empty, bool_or(response = 'C' and question_text like E'%\\nC) %') as choices, bool_or(translated_response is null) as untranslated,
         bool_or(metadata is null) as no_metadata, bool_or(pageid is null) as no_page, bool_or(metadata ? 'ad_id') as ads,
         bool_or(not metadata ? 'ad_id') as no_ads, bool_or(metadata @@ '$.page > 9007199254740993') as big_integers,
         bool_or(date_trunc('milliseconds', timestamp) = timestamp) as milliseconds,
         bool_or(date_trunc('milliseconds', timestamp) <> timestamp) as microseconds,
         count(distinct timestamp) > count(distinct date_trunc('milliseconds', timestamp)) as same_millisecond,
         count(*) > count(distinct timestamp) as same_moment,
         bool_and(response ~ '^\\d+$' or metadata is null or (metadata ->> 'language' = 'en') = (translated_response is null))
           as translations,
         (select count(timeouts) = 1 and count(off_time) = 2 from survey_settings) as settings
       from responses`,
    );
    expect(Object.entries(counts ?? { none: false }).filter(([, found]) => found !== true)).toEqual([]);
  });

  test('is the same each time it is loaded, and refuses a database that has an account', async () => {
    const before = await dump(url);
    await expect(loadDemoData(url)).rejects.toThrow('can only be loaded into an empty database');
    expect(await dump(url)).toEqual(before);
    await query(url, 'truncate users cascade');
    await loadDemoData(url);
    expect(await dump(url)).toEqual(before);
  });
});
