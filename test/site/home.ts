import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { fetchApi, origin, query } from '../support/api.ts';
import { type TestResponse, type TestSurvey, storeSurvey } from '../support/data.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { type Display, openPage } from './browser.ts';

/** Parameters of a link, or of a file. */
export type Selection = Readonly<Record<string, string | readonly string[]>>;

/** A survey's file of the API. */
export const fileOf = async (
  { name, account }: TestSurvey,
  selection: Selection = {},
  path = 'csv',
): Promise<Buffer> =>
  (await fetchApi(`/responses/${path}${query({ survey: name, ...selection })}`, account)).bytes;

/** Clicks the first button with a name. */
export const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).first().click();

/** The downloads that the page shows, the newest first. */
export const cards = (page: Page) =>
  page.getByRole('region', { name: 'Downloads' }).getByRole('listitem');

/** Enters a key on the page at `/`. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Show my surveys' }).click();
}

/**
 * Opens a link to a survey, enters its key, and waits until the page has everything that it
 * requests.
 */
export async function openSurvey(
  { name, account }: TestSurvey,
  selection: Selection = {},
  display: Display = {},
) {
  const page = await openPage(`/${query({ survey: name, ...selection })}`, display);
  await enterKey(page, account.key);
  await settled(page);
  return page;
}

/** Opens a new survey of these responses, as {@link openSurvey} does. */
export const openNew = async (
  responses: readonly TestResponse[],
  ...how: [selection?: Selection, display?: Display]
) => openSurvey(await storeSurvey(responses), ...how);

/** Waits until the page has everything that it requests for a survey. */
export async function settled(page: Page): Promise<void> {
  await page
    .locator('.match')
    .getByText(/ participants?, |No answers/)
    .waitFor();
  await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0);
}

/** Waits until the page shows how much is selected. */
export const selected = (page: Page, text: string) =>
  page.locator('.match').getByText(text, { exact: true }).waitFor();

/** Opens a view of a survey. */
export const openView = (page: Page, name: string) =>
  page
    .getByRole('navigation', { name: 'Views of this survey' })
    .getByRole('link', { name })
    .click();

/** Goes to a path as the Back button does, without loading the page again. */
export const visit = (page: Page, path: string) =>
  page.evaluate<boolean>(
    `history.pushState(null, '', ${JSON.stringify(path)}), dispatchEvent(new PopStateEvent('popstate'))`,
  );

/** Opens a survey as {@link openSurvey} does, through a fault proxy in front of the service. */
export async function openThroughProxy(
  survey: TestSurvey,
  selection: Selection = {},
  display: Display = {},
) {
  const proxy = await startFaultProxy(origin());
  onTestFinished(() => proxy.close());
  const proxied = { origin: new URL(proxy.url).origin, provoked: /Failed to load resource/ };
  return { page: await openSurvey(survey, selection, { ...display, ...proxied }), proxy };
}

/**
 * Aborts the first request for a path. Chromium continues to hold all requests for Playwright: when
 * a route ends, as with its option `times`, requests that are being held may get no response.
 */
export async function abortFirst(page: Page, path: string): Promise<void> {
  let isFirst = true;
  await page.route(`**/api/v1${path}*`, (route) => {
    const isAborted = isFirst;
    isFirst = false;
    return isAborted ? route.abort() : route.fallback();
  });
}

/** Holds all requests for a path of the API until `release` is called. `held` is their number. */
export async function hold(
  page: Page,
  path: string,
): Promise<{ readonly held: number; release(): void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const gate = { held: 0, release: resolve };
  await page.route(`**/api/v1${path}*`, async (route) => {
    gate.held++;
    await promise;
    await route.continue();
  });
  return gate;
}

/** The sum of the scores of all layout shifts since the page was loaded. */
export const shiftsOf = (page: Page) =>
  page.evaluate<number>(`(() => {
    const observer = new PerformanceObserver(() => {});
    observer.observe({ type: 'layout-shift', buffered: true });
    return observer.takeRecords().reduce((sum, { value }) => sum + value, 0);
  })()`);
