import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { addResponses } from '../support/data.ts';
import { saved } from './browser.ts';
import { createChanging, createOutdated, fileOf, responseAt } from './changing-survey.ts';
import { enterKey, hold, openSurvey, settled, startProxy } from './home.ts';

/* What becomes of an older file is in update-file.test.ts. */

const choose = (page: Page, buffer: Buffer) =>
  page.getByLabel('Older CSV file').setInputFiles({ name: 'old.csv', mimeType: 'text/csv', buffer });
const cards = (page: Page) => page.getByRole('region', { name: 'Downloads' }).getByRole('listitem');

test('an older file is chosen, even while another one is compared, and the one that is up to date is saved', async () => {
  const survey = await createChanging();
  const page = await openSurvey(survey, { format: 'ndjson' }); // for the file, the format does not matter
  let files = 0;
  page.on('download', () => files++);
  const old = await fileOf(survey);
  await choose(page, Buffer.from('a,b\n'));
  await cards(page).getByText('This is not a CSV file that was downloaded here').waitFor();
  await addResponses(survey, [{ ...responseAt(0, 12), question_ref: 'later' }]);
  const file = await saved(page, () => choose(page, old));
  expect(file.bytes).toEqual(await fileOf(survey));
  expect(file.name).toMatch(/^health-habits-2026_long_\d{4}-\d\d-\d\d\.csv$/);
  await cards(page).first().getByText('Up to date. Days: 5 unchanged, 1 changed, 0 new, 0 gone.').waitFor();

  const held = await hold(page, '/responses/form-data');
  await choose(page, old);
  await expect.poll(() => held.held).toBe(1);
  await choose(page, old.subarray(0, -300));
  await expect.poll(() => held.held).toBe(2);
  held.release();
  await expect.poll(() => cards(page).getByText('Up to date.').count()).toBe(3);
  await expect.poll(() => files).toBe(3);
});

test('an older file can be dropped anywhere on the page, and must not change before the new one is saved', async () => {
  const survey = await createChanging();
  const page = await openSurvey(survey);
  const drop = (count = 1) =>
    page.evaluate<void>(`(async () => {
      const dataTransfer = new DataTransfer();
      const root = await navigator.storage.getDirectory();
      const file = await (await root.getFileHandle('old')).getFile();
      for (let i = 0; i < ${count}; i++) dataTransfer.items.add(file);
      const fire = (type) => document.querySelector('h1').dispatchEvent(
        new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      if (fire('dragover') || fire('drop')) throw new Error('the browser would open the file');
    })()`);
  const write = (text: string) =>
    page.evaluate(
      `(async (text) => {
        const file = await (await navigator.storage.getDirectory()).getFileHandle('old', { create: true });
        const writable = await file.createWritable();
        await writable.write(text);
        await writable.close();
      })(${JSON.stringify(text)})`,
    );
  const unreadable = cards(page)
    .first()
    .getByText('The file cannot be read. It may have been changed, moved or deleted.');
  const old = await fileOf(survey);
  await write(String(old));
  await drop(2);
  await page.getByText('Drop one file at a time.').waitFor();
  const file = await saved(page, () => drop());
  expect(file.bytes).toEqual(old);

  // The new file refers to parts of the older one.
  await write('changed');
  await page.getByRole('button', { name: 'Save again' }).click();
  await unreadable.waitFor();
  await page.getByRole('button', { name: 'Remove' }).click();

  await write(String(old));
  const held = await hold(page, '/responses/form-data');
  await drop();
  await expect.poll(() => held.held).toBe(1);
  await write('changed'); // the page has the file as it was before
  held.release();
  await unreadable.waitFor();
});

test('a lost connection continues; nothing is left when it is cancelled, the page is closed, or the key is revoked', async () => {
  const { survey, old } = await createOutdated();
  const { proxy, proxied } = await startProxy();
  const page = await openSurvey(survey, {}, { origin: proxied, provoked: /Failed to load resource/ });
  page.on('dialog', (dialog) => dialog.accept()); // the page warns before it is closed
  // The first two requests are those for the digests and the form data.
  proxy.inject((exchange) => {
    if (exchange.index === 3) exchange.cutAfter(100_000);
  });
  const { bytes } = await saved(page, () => choose(page, old));
  expect(bytes).toEqual(await fileOf(survey));
  await page.getByRole('button', { name: 'Remove' }).click();

  const ends = [
    () => page.getByRole('button', { name: 'Cancel' }).click(),
    async () => {
      await page.reload();
      await enterKey(page, survey.account.key);
      await settled(page);
    },
  ];
  for (const end of ends) {
    proxy.inject((exchange) => (exchange.index === 3 ? exchange.hang() : undefined));
    await choose(page, old);
    await cards(page).getByText('Downloading what has changed: day 2 of 2').waitFor();
    await end();
    await expect.poll(() => proxy.abandoned).toBeGreaterThan(0);
    const stored = `navigator.storage.getDirectory().then((root) => Array.fromAsync(root.keys()))`;
    await expect.poll(() => page.evaluate<string[]>(stored)).toEqual([]);
    expect(await page.getByRole('button', { name: 'Continue' }).count()).toBe(0);
  }

  proxy.inject((exchange) => {
    if (exchange.index === 2) exchange.reply(401, '{}', { 'X-Error-Code': 'invalid_token' });
  });
  await choose(page, old);
  await page.getByRole('alert').getByText('Your key no longer works').waitFor();
});
