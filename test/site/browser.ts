import { buffer } from 'node:stream/consumers';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';
import { origin as serviceOrigin } from '../support/api.ts';
import { launchChromium } from '../support/chromium.ts';

/** How a page is displayed. */
export interface Display extends Omit<BrowserContextOptions, 'viewport'> {
  readonly width?: number;
  /** Another origin under which the page is opened, such as a fault proxy's. */
  readonly origin?: string;
  /** Matches the problems that the test provokes. */
  readonly provoked?: RegExp;
}

/** One for all files that this process runs. It ends with the process. */
let launched: Promise<Browser> | undefined;

/**
 * Opens the page at a path, in its own context of the browser, until the test ends. The test fails
 * if the page has other problems than the provoked ones: console messages, errors, policy
 * violations, or requests to anything but the service.
 */
export async function openPage(path: string, display: Display = {}): Promise<Page> {
  const { width = 1280, origin = serviceOrigin(), provoked = /^$/, ...options } = display;
  const browser = await (launched ??= launchChromium(inject('chromium')));
  const context = await browser.newContext({ ...options, viewport: { width, height: 800 } });
  const problems: string[] = [];
  onTestFinished(async () => {
    await context.close();
    expect(problems.filter((problem) => !provoked.test(problem))).toEqual([]);
  });
  context.setDefaultTimeout(100_000); // only a little less than that of a test
  const page = await context.newPage();
  page.on('console', (message) => problems.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'blob:') problems.push(`request to ${url.href}`);
  });
  await page.goto(origin + path);
  return page;
}

/**
 * The file that the browser saves while `action` runs, or after it, as late as the test may end.
 */
export async function saved(
  page: Page,
  action: () => Promise<unknown>,
): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download', { timeout: 0 }), action()]);
  const bytes = await buffer(await download.createReadStream());
  return { name: download.suggestedFilename(), bytes };
}

/** The text of the element that has the focus. */
export const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent');

/**
 * What a page has left in the browser, except files: the values in its storages, its cookies and
 * its URL. The values are read by position: an item with the name of a method, such as `key`, is
 * not among a storage's properties.
 */
export const traces = (page: Page) =>
  page.evaluate<string[]>(`[
    ...[localStorage, sessionStorage].flatMap((storage) =>
      Array.from({ length: storage.length }, (_, i) => storage.getItem(storage.key(i)))),
    ...(document.cookie === '' ? [] : [document.cookie]),
    location.href,
  ]`);

/** The files that a page keeps in the browser, as `<folder>/<name>`, with folders by number. */
export const keptNames = async (page: Page) => Object.keys(await keptFiles(page)).toSorted();

/** The contents of these files. */
export const keptFiles = (page: Page) =>
  page.evaluate<Record<string, string>>(`(async () => {
    const root = await navigator.storage.getDirectory();
    const files = {};
    let folders = 0;
    for await (const folder of root.values()) {
      for await (const file of folder.values()) files[folders + '/' + file.name] = await (await file.getFile()).text();
      folders++;
    }
    return files;
  })()`);
