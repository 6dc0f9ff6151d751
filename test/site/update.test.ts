import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type TestSurvey, addResponses, createAccount, createSurvey } from '../support/data.ts';
import { newFolder } from '../support/once-per-run.ts';
import { keptNames, saved } from './browser.ts';
import {
  cards,
  chooseOlder,
  enterKey,
  fileOf,
  hold,
  openSurvey,
  openThroughProxy,
  press,
  settled,
} from './home.ts';

/* What becomes of an older file is in update-file.test.ts. */

/** A survey of some days with an answer each, and its file before two of them got another one. */
async function createOutdated(): Promise<{ survey: TestSurvey; old: Buffer }> {
  const survey = await createSurvey(await createAccount(), 'Health & Habits 2026');
  await addResponses(
    survey,
    Array.from({ length: 5 }, (_, i) => ({ timestamp: `2026-03-0${i + 1}T12:00:00Z` })),
  );
  const old = await fileOf(survey);
  await addResponses(survey, [
    { timestamp: '2026-03-02T15:00:00Z' },
    { timestamp: '2026-03-04T15:00:00Z', response: 'x'.repeat(200_000) },
  ]);
  return { survey, old };
}

test('an older file is chosen, even while another one is compared, or dropped, and saved when it is up to date', async () => {
  const { survey, old } = await createOutdated();
  // for the file, the format does not matter
  const page = await openSurvey(survey, { view: 'download', format: 'ndjson' });
  let files = 0;
  page.on('download', () => files++);
  await chooseOlder(page, 'a,b\n');
  await cards(page).getByText('This is not a CSV file that was downloaded here').waitFor();
  const file = await saved(page, () => chooseOlder(page, old));
  expect(file.bytes).toEqual(await fileOf(survey));
  expect(file.name).toMatch(/^health-habits-2026_long_\d{4}-\d\d-\d\d_\d{4}\.csv$/);
  await cards(page)
    .first()
    .getByText('Up to date. Days: 3 unchanged, 2 changed, 0 new, 0 gone.')
    .waitFor();

  const held = await hold(page, '/responses/form-data');
  await chooseOlder(page, old);
  await expect.poll(() => held.held).toBe(1);
  await chooseOlder(page, file.bytes);
  await expect.poll(() => held.held).toBe(2);
  held.release();
  await expect.poll(() => cards(page).getByText('Up to date.').count()).toBe(3);

  /** Drops files anywhere on the page. */
  const drop = (...texts: string[]) =>
    page.evaluate<void>(`(() => {
      const dataTransfer = new DataTransfer();
      for (const text of ${JSON.stringify(texts)}) dataTransfer.items.add(new File([text], 'old.csv'));
      const fire = (type) => document.querySelector('h1').dispatchEvent(
        new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      if (fire('dragover') || fire('drop')) throw new Error('the browser would open the file');
    })()`);
  const started = await cards(page).count();
  await drop('', '');
  await page.getByText('Drop one file at a time.').waitFor();
  expect(await cards(page).count()).toBe(started);
  const dropped = await saved(page, () => drop(String(old)));
  expect(dropped.bytes).toEqual(file.bytes);
  expect(files).toBe(4);
});

test('an older file must not change while it is compared, nor before the new one is saved', async () => {
  const { survey, old } = await createOutdated();
  const path = join(await newFolder(), 'old.csv');
  const page = await openSurvey(survey, { view: 'download' });
  const chooseIt = async () => {
    await writeFile(path, old);
    await page.getByLabel('Older CSV file').setInputFiles(path);
  };
  const unreadable = cards(page).getByText(
    'The file cannot be read. It may have been changed, moved or deleted.',
  );
  await saved(page, chooseIt);
  await writeFile(path, 'changed'); // the new file refers to parts of it
  await press(page, 'Save again');
  await unreadable.waitFor();
  await press(page, 'Remove');

  const held = await hold(page, '/responses/form-data');
  await chooseIt();
  await expect.poll(() => held.held).toBe(1);
  await writeFile(path, 'changed');
  held.release();
  await unreadable.waitFor();
});

test('in Firefox, which does not notice when an older file changes, its copy is read', async () => {
  const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  const { survey, old } = await createOutdated();
  const path = join(await newFolder(), 'old.csv');
  const page = await openSurvey(survey, { view: 'download' }, { userAgent });
  const held = await hold(page, '/responses/form-data');
  await writeFile(path, old);
  await page.getByLabel('Older CSV file').setInputFiles(path);
  await expect.poll(() => held.held).toBe(1);
  await writeFile(path, 'changed');
  const file = await saved(page, async () => held.release());
  expect(file.bytes).toEqual(await fileOf(survey));
  await cards(page).getByText('Up to date. Days: 3 unchanged, 2 changed, 0 new, 0 gone.').waitFor();
});

test('a lost connection continues; nothing is left when it is cancelled or the page is closed', async () => {
  const { survey, old } = await createOutdated();
  const { page, proxy } = await openThroughProxy(survey, { view: 'download' });
  page.on('dialog', (dialog) => dialog.accept()); // the page warns before it is closed
  // The first two requests are those for the digests and the form data.
  proxy.inject((exchange) => (exchange.index === 3 ? exchange.cutAfter(100_000) : undefined));
  const { bytes } = await saved(page, () => chooseOlder(page, old));
  expect(bytes).toEqual(await fileOf(survey));
  await press(page, 'Remove');

  const ends = [
    () => press(page, 'Cancel'),
    async () => {
      await page.reload();
      await enterKey(page, survey.account.key);
      await settled(page);
    },
  ];
  for (const end of ends) {
    proxy.inject((exchange) => (exchange.index === 3 ? exchange.hang() : undefined));
    await chooseOlder(page, old);
    await cards(page).getByText('Downloading what has changed: day 2 of 2').waitFor();
    await end();
    await expect.poll(() => proxy.abandoned).toBeGreaterThan(0);
    await expect.poll(() => keptNames(page)).toEqual([]);
    expect(await page.getByRole('button', { name: 'Continue' }).count()).toBe(0);
  }
});
