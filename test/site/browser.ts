import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { type RunningBrowser, startChromium } from '../support/chromium.ts';
import { useStack } from '../support/stack-address.ts';
import { type Stack, startStack } from '../support/stack.ts';

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
}

/** Starts the service and a browser for a test file. `open` opens the page at a path. */
export function withBrowser(): { open(path: string, display?: Display): Promise<OpenPage> } {
  let stack: Stack;
  let running: RunningBrowser;
  beforeAll(async () => {
    stack = await startStack();
    useStack(stack.address);
    running = await startChromium();
  });
  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
    await stack?.stop();
  });

  return {
    async open(path, { width = 1280, origin = stack.address.origin, ...options } = {}) {
      const context = await running.browser.newContext({ ...options, viewport: { width, height: 800 } });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('console', (message) => problems.push(`console: ${message.text()}`));
      page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
      page.on('request', (request) => {
        const url = new URL(request.url());
        if (url.origin !== origin && url.protocol !== 'blob:') problems.push(`request to ${url.href}`);
      });
      await page.addInitScript({
        content:
          'addEventListener("securitypolicyviolation", (event) => console.error(event.violatedDirective, "violated"))',
      });
      await page.goto(origin + path);
      return { page, problems, [Symbol.asyncDispose]: () => context.close() };
    },
  };
}
