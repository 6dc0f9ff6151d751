import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { fetchApi, origin, query } from '../support/api.ts';
import { type TestResponse, type TestSurvey, addResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { type OpenPage, openPage, saved } from './browser.ts';
import { enterKey, expectNoProblems, hold } from './home.ts';

type Selection = Readonly<Record<string, string | string[]>>;

let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await startFaultProxy(origin());
});
afterEach(() => proxy.inject());
afterAll(() => proxy.close());

/** Days in March 2026, each with some responses that tie in time. */
const DAYS = 6;
const PER_DAY = 8;
const day = (number: number, time = '00:00:00Z') => `2026-03-${String(number).padStart(2, '0')}T${time}`;

function responseAt(i: number, number: number): TestResponse {
  return {
    form: i % 4,
    userid: i % 2 === 0 ? 'Åsa, "7"' : `user ${i}`,
    question_ref: `q${i % 3}`,
    question_text: 'Line 1?\nLine 2',
    response: i === 1 ? '-5' : `Answer ${i}, \n"🌍"`,
    translated_response: [null, '', 'translated'][i % 3] ?? null,
    pageid: i % 4 === 0 ? '' : null,
    metadata:
      [null, 'null', '{"a": {"ad_id": 7}, "ad_id": 7.10, "é": "\\"x\\""}', '{"ad_id": {"a": [1]}, "é": null}'][i % 4] ??
      null,
    timestamp: day(number, i < 4 ? '00:00:00Z' : `23:59:59.99${i}047Z`),
  };
}

/** A survey with two versions of each of two forms. */
async function createChanging(): Promise<TestSurvey> {
  const survey = await createSurvey(await createAccount(), 'Health & Habits 2026', 4);
  const numbers = Array.from({ length: DAYS }, (_, i) => 2 * i + 2); // every other day
  await addResponses(
    survey,
    numbers.flatMap((number) => Array.from({ length: PER_DAY }, (_, i) => responseAt(i, number))),
  );
  return survey;
}

const fileOf = async ({ name, account }: TestSurvey, selection: Selection = {}) =>
  (await fetchApi(`/responses/csv${query({ survey: name, ...selection })}`, account)).bytes;

/** Opens a survey through the proxy. */
async function open(survey: TestSurvey, selection: Selection = {}): Promise<OpenPage> {
  const { origin: proxied } = new URL(proxy.url);
  const opened = await openPage(`/${query({ survey: survey.name, ...selection })}`, { origin: proxied });
  await enterKey(opened.page, survey.account.key);
  await opened.page.getByText(/^Selected: |^No answers match/).waitFor();
  await expect.poll(() => opened.page.locator('[aria-busy]').count()).toBe(0);
  return opened;
}

const choose = (page: Page, buffer: Buffer, name = 'old.csv') =>
  page.getByLabel('Older CSV file').setInputFiles({ name, mimeType: 'text/csv', buffer });
const card = (page: Page) => page.getByRole('region', { name: 'Downloads' }).getByRole('listitem').first();

/** Expects that the page makes of an old file what the service would send now. */
async function expectUpdated(page: Page, survey: TestSurvey, old: Buffer, days: string, selection: Selection = {}) {
  const file = await saved(page, () => choose(page, old));
  expect(file.bytes.toString()).toBe((await fileOf(survey, selection)).toString());
  await card(page).getByText(`Up to date. Days: ${days}.`).waitFor();
  return file;
}

const change = ({ forms }: TestSurvey, text: string, ...params: unknown[]) =>
  sql(text.replace('{forms}', 'surveyid = any($1)'), [forms.map(({ id }) => id), ...params]);

describe('an older file', () => {
  test('becomes a fresh download: late, edited and deleted responses, at the beginning and at the end', async () => {
    const survey = await createChanging();
    await using opened = await open(survey);
    const { page } = opened;
    const old = await fileOf(survey);
    await expectUpdated(page, survey, old, '6 unchanged, 0 changed, 0 new, 0 gone');

    await change(survey, `update responses set response = 'edited' where {forms} and timestamp = '${day(4)}'`);
    await change(survey, `delete from responses where {forms} and timestamp < '${day(3)}'`);
    await change(
      survey,
      `delete from responses where {forms} and timestamp > '${day(8, '12:00Z')}' and timestamp < '${day(9)}'`,
    );
    await addResponses(survey, [
      { ...responseAt(0, 1), question_ref: 'late', timestamp: day(1, '05:00Z') },
      { ...responseAt(0, 12), question_ref: 'later' },
      { ...responseAt(0, 31), timestamp: day(31, '23:59:59.999999Z') },
    ]);
    const file = await expectUpdated(page, survey, old, '2 unchanged, 3 changed, 2 new, 1 gone');
    expect(file.name).toMatch(/^health-habits-2026_long_\d{4}-\d\d-\d\d\.csv$/);
    await expectUpdated(page, survey, file.bytes, '7 unchanged, 0 changed, 0 new, 0 gone');
    // The file of a broken transfer, which ends within a record.
    await expectUpdated(page, survey, old.subarray(0, -300), '2 unchanged, 3 changed, 2 new, 1 gone');
    expectNoProblems(opened);
  });

  test('becomes what is selected now: with filters, metadata columns, and forms whose shortcodes have changed', async () => {
    const survey = await createChanging();
    const selection = {
      since: day(2, '00:00:00.000047Z'),
      until: day(12, '23:59:59.996047Z'),
      shortcode: ['f0', 'f1'],
      question_ref: ['q0', 'q1'],
      metadata: ['é', 'ad_id'],
    };
    await using opened = await open(survey, { ...selection, format: 'ndjson' });
    const { page } = opened;
    const old = await fileOf(survey, selection);
    await change(survey, `update surveys set shortcode = 'f1' where id = any($1) and shortcode = 'f0'`);
    await change(survey, `update responses set shortcode = 'f1' where {forms}`);
    await change(survey, `update responses set metadata = '{"é": 1.10}' where {forms} and timestamp < '${day(3)}'`);
    await expectUpdated(page, survey, old, '5 unchanged, 1 changed, 0 new, 0 gone', selection);

    // Of the columns of metadata, the file decides on the order.
    const swapped = { ...selection, metadata: ['ad_id', 'é'] };
    await expectUpdated(page, survey, await fileOf(survey, swapped), '6 unchanged, 0 changed, 0 new, 0 gone', swapped);
    expectNoProblems(opened);
  });

  test('becomes the header alone when nothing is selected any more', async () => {
    const survey = await createChanging();
    await using opened = await open(survey, { until: day(3) });
    const old = await fileOf(survey, { until: day(3) });
    await change(survey, `delete from responses where {forms} and timestamp < '${day(3)}'`);
    await expectUpdated(opened.page, survey, old, '0 unchanged, 0 changed, 0 new, 1 gone', { until: day(3) });
  });

  test('is repaired where somebody has changed what digests leave out: values, quotes and the order', async () => {
    const survey = await createChanging();
    await using opened = await open(survey);
    const old = String(await fileOf(survey));
    const [header, ...records] = old.match(/(?:[^"\n]|"[^"]*")*\n/g) ?? [];
    const [first = '', second = '', ...others] = records;
    for (const edited of [
      old.replace(',7.10,', ',7.1,'),
      old.replace(',7.10,', ',7,'), // that of an inner object
      old.replace(',q0,', ',"q0",'),
      [header, second, first, ...others].join(''),
      // The order of a day, as in a database with another collation.
      [header, ...records.slice(2, 4), first, second, ...records.slice(4)].join(''),
    ]) {
      expect(edited).not.toBe(old);
      await expectUpdated(opened.page, survey, Buffer.from(edited), '6 unchanged, 0 changed, 0 new, 0 gone');
    }
  });

  test('can be dropped anywhere on the page', async () => {
    const survey = await createChanging();
    await using opened = await open(survey);
    const { page } = opened;
    const drop = (...names: string[]) =>
      page.evaluate<void>(`(async () => {
        const dataTransfer = new DataTransfer();
        const text = await (await navigator.storage.getDirectory().then((root) => root.getFileHandle('old'))).getFile();
        for (const _ of ${JSON.stringify(names)}) dataTransfer.items.add(text);
        const fire = (type) => document.querySelector('h1').dispatchEvent(
          new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
        if (fire('dragover') || fire('drop')) throw new Error('the browser would open the file');
      })()`);
    const old = await fileOf(survey);
    const write = (text: string) =>
      page.evaluate(
        `(async (text) => {
          const file = await (await navigator.storage.getDirectory()).getFileHandle('old', { create: true });
          const writable = await file.createWritable();
          await writable.write(text);
          await writable.close();
        })(${JSON.stringify(text)})`,
      );
    await write(String(old));
    await drop('a.csv', 'b.csv');
    await page.getByText('Drop one file at a time.').waitFor();
    const file = await saved(page, () => drop('a.csv'));
    expect(file.bytes).toEqual(old);

    // The new file refers to parts of the older one.
    await write('changed');
    await page.getByRole('button', { name: 'Save again' }).click();
    await card(page).getByText('The file cannot be read. It may have been changed, moved or deleted.').waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();

    await write(String(old));
    const held = await hold(page, '/responses/form-data');
    await drop('c.csv');
    await expect.poll(() => held.held).toBe(1);
    await write('changed'); // the page has the file as it was before
    held.release();
    await card(page).getByText('The file cannot be read. It may have been changed, moved or deleted.').waitFor();
  });
});

test('while a file is compared, another one can be chosen', async () => {
  const survey = await createChanging();
  await using opened = await open(survey);
  const { page } = opened;
  const old = await fileOf(survey);
  const held = await hold(page, '/responses/form-data');
  await choose(page, Buffer.from(String(old).replace('f0', 'f9')), 'wrong.csv');
  await expect.poll(() => held.held).toBe(1);
  await choose(page, old, 'right.csv');
  await expect.poll(() => held.held).toBe(2);
  held.release();
});

describe('a file is refused', () => {
  const other = (
    text: string | RegExp,
    make: (old: Buffer, survey: TestSurvey) => Buffer | Promise<Buffer>,
    selection: Selection = {},
  ) => ({ text, make, selection });
  const refused: Record<string, ReturnType<typeof other>> = {
    'that is compressed': other('This file is compressed.', (old) => gzipSync(old)),
    'for Excel': other('changes the data', (_, survey) => fileOf(survey, { bom: 'true', safe: 'true' })),
    'with apostrophes': other('changes the data', (_, survey) => fileOf(survey, { safe: 'true' })),
    'in the wide layout': other('one row per participant', (_, survey) => fileOf(survey, { layout: 'wide' })),
    'that is a workbook': other('an Excel workbook', () => Buffer.from('PK\u0003\u0004')),
    'that is something else': other('not a CSV file that was downloaded here', () => Buffer.from('a,b\n1,2\n')),
    'that is empty': other('not a CSV file that was downloaded here', () => Buffer.from('')),
    'with other line breaks': other('not a CSV file that was downloaded here', (old) =>
      Buffer.from(String(old).replaceAll('\n', '\r\n')),
    ),
    'with a record that is damaged': other('Row 3 of this file is damaged', (old) => {
      let row = 0;
      return Buffer.from(
        String(old).replace(/(?<=(?:^|\n)[0-9a-f]{8}-[^,]*),/g, (comma) => (++row === 3 ? ',,' : comma)),
      );
    }),
    'whose rows are sorted otherwise': other('not in their original order (row', (old) => {
      const records = String(old).match(/(?:[^"\n]|"[^"]*")*\n/g) ?? [];
      return Buffer.from([records[0], ...records.slice(1).toReversed()].join(''));
    }),
    'of another survey': other('from another survey', async (_, survey) => {
      const another = await createSurvey(survey.account);
      await addResponses(another, [{}]);
      return fileOf(another);
    }),
    'with other columns': other('choose exactly these: é', (_, survey) => fileOf(survey, { metadata: 'é' })),
    'with fewer forms': other('only part of what is selected', (_, survey) => fileOf(survey, { shortcode: 'f0' })),
    'with fewer questions': other('only part', (_, survey) => fileOf(survey, { question_ref: ['q0', 'q2'] })),
    'with one participant': other('only part', (_, survey) => fileOf(survey, { userid: 'user 1' })),
  };
  const refusedForSelection: typeof refused = {
    'without columns that are selected': other('choose none', (old) => old, { metadata: 'é' }),
    'with more forms': other('answers that are not selected', (old) => old, { shortcode: 'f0' }),
    'with more questions': other('answers that are not selected', (old) => old, { question_ref: ['q0', 'q1'] }),
    'with more participants': other('answers that are not selected', (old) => old, { userid: 'user 1' }),
    'with earlier days': other('answers that are not selected', (old) => old, { since: day(2, '00:00:00.001Z') }),
    'with later days': other('answers that are not selected', (old) => old, { until: day(12, '23:59:59.997Z') }),
  };

  let survey: TestSurvey;
  beforeAll(async () => {
    survey = await createChanging();
  });

  async function expectRefused({ page }: OpenPage, { text, make }: ReturnType<typeof other>): Promise<void> {
    await choose(page, await make(await fileOf(survey), survey));
    await card(page).getByText(text).waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
  }

  test('that is damaged, changed, compressed, of another kind, survey or layout, or only part of the selection', async () => {
    await using opened = await open(survey);
    let files = 0;
    opened.page.on('download', () => files++);
    for (const one of Object.values(refused)) await expectRefused(opened, one);
    expect(files).toBe(0);
    expectNoProblems(opened);
  });

  test.each(Object.entries(refusedForSelection))('%s', async (_, one) => {
    await using opened = await open(survey, one.selection);
    await expectRefused(opened, one);
    expectNoProblems(opened);
  });
});

describe('while a file is brought up to date', () => {
  /** A survey, its old file, and a late response on each of two days that are not neighbours. */
  async function createOutdated() {
    const survey = await createChanging();
    const old = await fileOf(survey);
    await addResponses(survey, [
      { ...responseAt(0, 4), question_ref: 'late' },
      { ...responseAt(0, 10), question_ref: 'late', response: 'x'.repeat(1e6) },
    ]);
    return { survey, old };
  }

  test('responses may change: the days are downloaded again, a few times', async () => {
    const { survey, old } = await createOutdated();
    await using opened = await open(survey);
    const { page } = opened;
    let changes = 0;
    let most = 3;
    const changeIt = async () => {
      if (changes++ < most) await addResponses(survey, [{ ...responseAt(0, 4), question_ref: `meanwhile ${changes}` }]);
    };
    await page.route('**/responses/csv*', async (route) => {
      await changeIt();
      const response = await route.fetch();
      await changeIt();
      await route.fulfill({ response });
    });
    await expectUpdated(page, survey, old, '4 unchanged, 2 changed, 0 new, 0 gone');
    most = Infinity;
    await choose(page, old);
    await card(page).getByText('The answers keep changing while they are downloaded. Try again later.').waitFor();
  });

  test('a form may be added: its shortcodes are read again', async () => {
    const { survey, old } = await createOutdated();
    await using opened = await open(survey);
    const { promise: read, resolve } = Promise.withResolvers<void>();
    let requests = 0;
    await opened.page.route('**/responses/form-data*', async (route) => {
      const response = await route.fetch();
      if (requests++ === 0)
        await sql(`update surveys set metadata = '{"new": true}' where id = $1`, [survey.forms[0]?.id]);
      resolve();
      await route.fulfill({ response });
    });
    await opened.page.route('**/responses/digests*', async (route) => {
      await read;
      await route.continue();
    });
    await expectUpdated(opened.page, survey, old, '4 unchanged, 2 changed, 0 new, 0 gone');
    expect(requests).toBe(2);
  });

  test('a lost connection continues, and a key that is revoked ends it', async () => {
    const { survey, old } = await createOutdated();
    await using opened = await open(survey);
    const { page } = opened;
    // The first two requests are those for the digests and the form data.
    proxy.inject((exchange) => {
      if (exchange.index === 3) exchange.cutAfter(500_000);
    });
    await expectUpdated(page, survey, old, '4 unchanged, 2 changed, 0 new, 0 gone');
    proxy.inject((exchange) => {
      if (exchange.index === 2) exchange.reply(401, '{}', { 'X-Error-Code': 'invalid_token' });
    });
    await choose(page, old);
    await page.getByRole('alert').getByText('Your key no longer works').waitFor();
  });

  test.each([
    ['it is cancelled', (page: Page) => page.getByRole('button', { name: 'Cancel' }).click()],
    [
      'the page is closed',
      async (page: Page, { account }: TestSurvey) => {
        await page.reload();
        await enterKey(page, account.key);
      },
    ],
  ])('nothing is left when %s', async (_, end) => {
    const { survey, old } = await createOutdated();
    await using opened = await open(survey);
    const { page } = opened;
    page.on('dialog', (dialog) => dialog.accept()); // the page warns before it is closed
    proxy.inject((exchange) => (exchange.index === 3 ? exchange.hang() : undefined));
    await choose(page, old);
    await card(page).getByText('Downloading what has changed: day 2 of 2').waitFor();
    await end(page, survey);
    await expect.poll(() => proxy.abandoned).toBeGreaterThan(0);
    const stored = `navigator.storage.getDirectory().then((root) => Array.fromAsync(root.keys()))`;
    await expect.poll(() => page.evaluate<string[]>(stored)).toEqual([]);
    expect(await page.getByRole('button', { name: 'Continue' }).count()).toBe(0);
  });
});
