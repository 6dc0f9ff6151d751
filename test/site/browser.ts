import { buffer } from 'node:stream/consumers';
import { type Browser, type BrowserContextOptions, type Page, chromium } from 'playwright-core';
import { inject } from 'vitest';
import { origin as serviceOrigin } from '../support/api.ts';

/** A page of the service, open in a browser. */
export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  /** Console messages, errors, policy violations, and requests to anything but the service. */
  readonly problems: readonly string[];
}

/** How a page is displayed. */
export interface Display extends Omit<BrowserContextOptions, 'viewport'> {
  readonly width?: number;
  /** Another origin under which the page is opened, such as a fault proxy's. */
  readonly origin?: string;
  /** Runs before the page's own scripts. */
  readonly script?: string | undefined;
}

let connected: Promise<Browser> | undefined;

/** Opens the page at a path, in its own context of the shared browser. */
export async function openPage(path: string, display: Display = {}): Promise<OpenPage> {
  const { width = 1280, origin = serviceOrigin(), script = '', ...options } = display;
  const browser = await (connected ??= chromium.connect(inject('chromium')));
  const context = await browser.newContext({ ...options, viewport: { width, height: 800 } });
  context.setDefaultTimeout(100_000); // only a little less than that of a test
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => problems.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'blob:') problems.push(`request to ${url.href}`);
  });
  await page.addInitScript({
    content: `addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective, 'violated'));
      ${script}`,
  });
  await page.goto(origin + path);
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
}

/** The file that the browser saves while `action` runs, or after it, as late as the test may end. */
export async function saved(page: Page, action: () => Promise<unknown>): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download', { timeout: 0 }), action()]);
  const bytes = await buffer(await download.createReadStream());
  return { name: download.suggestedFilename(), bytes };
}

/**
 * What a page has left in the browser, except files: the values in its storages, its cookies and its URL. The values are read by
 * position: an item with the name of a method, such as `key`, is not among a storage's properties.
 */
export const traces = (page: Page) =>
  page.evaluate<string[]>(`[
    ...[localStorage, sessionStorage].flatMap((storage) =>
      Array.from({ length: storage.length }, (_, i) => storage.getItem(storage.key(i)))),
    ...(document.cookie === '' ? [] : [document.cookie]),
    location.href,
  ]`);
