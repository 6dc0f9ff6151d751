import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { copyResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import { openPage, saved } from './browser.ts';
import { enterKey } from './home.ts';

const ROWS = 7000;
const WORDS = 1000;
const LEAST_BYTES = 60e6;
/** The page's scripts, about 5 MB, and a few parts of 8 MB: what is being written, and what arrives meanwhile. */
const MOST_BYTES = 40e6;

test(
  'the memory of the page does not grow with the file that it downloads, or brings up to date',
  { timeout: 300_000 },
  async () => {
    const survey = await createSurvey(await createAccount());
    const [form] = survey.forms;
    await sql(
      `insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx,
       question_text, response, timestamp)
     select 'parent', $1, $2, 1, 'user', 'question', 0, 'Question?', i || repeat(' "word"', $3),
       '2026-03-01T00:00:00Z'::timestamptz + i * interval '1 second'
     from generate_series(1, $4::int) i`,
      [form?.id, form?.shortcode, WORDS, ROWS],
    );
    const expected = await copyResponses(survey);
    expect(expected.length).toBeGreaterThan(LEAST_BYTES);

    await using open = await openPage(`/?survey=${survey.name}&format=csv`);
    const { page, problems } = open;
    await enterKey(page, survey.account.key);
    await page.getByText(/^Selected: .*, 7,000 answers/).waitFor();
    const devtools = await page.context().newCDPSession(page);
    /** What the page's scripts hold, with their buffers. Garbage is collected first, because it depends on time. */
    const held = async () => {
      await devtools.send('HeapProfiler.collectGarbage');
      const { usedSize, embedderHeapUsedSize, backingStorageSize } = await devtools.send('Runtime.getHeapUsage');
      return usedSize + embedderHeapUsedSize + backingStorageSize;
    };
    const sizes: number[] = [];
    const expectSaved = async (act: () => Promise<void>, text: string) => {
      const end = page.getByText(text).first();
      const file = await saved(page, async () => {
        await act();
        do {
          sizes.push(await held());
          await sleep(200); // to collect garbage takes longer than to download
        } while (!(await end.isVisible()));
      });
      sizes.push(await held());
      expect(file.bytes.equals(expected)).toBe(true);
    };
    const download = page.getByRole('button', { name: 'Download', exact: true });
    await expectSaved(() => download.click(), 'Complete: 7,000 answers');

    // An older file whose first record has another text, so that its day is downloaded again.
    const old = join(await mkdtemp(join(tmpdir(), 'survey-export-old-')), 'old.csv');
    await writeFile(old, String(expected).replace('Question?', 'Older question?'));
    await expectSaved(
      () => page.getByLabel('Older CSV file').setInputFiles(old),
      'Up to date. Days: 0 unchanged, 1 changed',
    );
    await rm(dirname(old), { recursive: true });
    expect(Math.max(...sizes)).toBeLessThan(MOST_BYTES);
    expect(problems).toEqual([]);
  },
);
