import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createAccount, createSurvey, sql } from '../support/data.ts';
import { withBrowser } from './browser.ts';
import { addDownloads, downloadRequestOf, start } from './downloads.ts';

const browser = withBrowser();

const ROWS = 34_000;
const WORDS = 1000;
const FIRST = Date.UTC(2026, 2, 1);
const SAMPLE_MS = 200;

/** The memory of all renderer processes in MiB: their own, and their share of what processes share. */
async function rendererMemory(page: Page): Promise<number> {
  const devtools = await page.context().browser()?.newBrowserCDPSession();
  const { processInfo = [] } = (await devtools?.send('SystemInfo.getProcessInfo')) ?? {};
  await devtools?.detach();
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(async ({ id }) => {
      const sums = await readFile(`/proc/${id}/smaps_rollup`, 'utf8').catch(() => ''); // the process has ended
      return Number(/^Pss: +(\d+) kB/m.exec(sums)?.[1] ?? 0) / 1024;
    });
  return (await Promise.all(sizes)).reduce((sum, one) => sum + one, 0);
}

test.skipIf(process.platform !== 'linux')('a download of 300 MB takes little memory', async () => {
  const survey = await createSurvey(await createAccount());
  const [form] = survey.forms;
  await sql(
    `insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx,
       question_text, response, timestamp)
     select 'parent', $1, $2, 1, 'user', 'question', 0, 'Question?', i || repeat(' "word"', $3),
       $4::timestamptz + i * interval '1 second'
     from generate_series(1, $5::int) i`,
    [form?.id, form?.shortcode, WORDS, new Date(FIRST).toISOString(), ROWS],
  );
  const words = ' ""word""'.repeat(WORDS);
  const expected = createHash('sha256');
  const columns = 'parent_surveyid,parent_shortcode,surveyid,flowid,userid,question_ref,question_idx,question_text';
  expected.update(`${columns},response,timestamp,metadata,ad_id,pageid,translated_response\n`);
  for (let i = 1; i <= ROWS; i++) {
    const time = new Date(FIRST + i * 1000).toISOString();
    expected.update(`,parent,${form?.id},1,user,question,0,Question?,"${i}${words}",${time},,,,\n`);
  }

  await using open = await browser.open('/');
  const { page, problems } = open;
  await addDownloads(page, survey.account);
  const file = { path: '' };
  page.once('download', async (download) => (file.path = await download.path()));
  const before = await rendererMemory(page);
  let most = before;
  await start(page, downloadRequestOf(survey, 'csv', 'csv'));
  while (file.path === '') {
    await sleep(SAMPLE_MS);
    most = Math.max(most, await rendererMemory(page));
  }
  const received = createHash('sha256');
  await pipeline(createReadStream(file.path), received);
  expect(received.digest('hex')).toBe(expected.digest('hex'));
  expect(most - before, `MiB more than ${before}`).toBeLessThan(100);
  expect(problems).toEqual([]);
});
