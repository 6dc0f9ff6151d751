import type { Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { type RunningBrowser, startChromium } from '../support/chromium.ts';
import { useStack } from '../support/stack-address.ts';
import { type Stack, startStack } from '../support/stack.ts';

/** The reference page, open in a browser. */
export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  /** Console messages, errors, policy violations, and requests to anything but the service. */
  readonly problems: readonly string[];
}

/** How the page is displayed. */
export interface Display {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
}

/** Starts the service and a browser for a test file. */
export function withBrowser(): { open(display?: Display): Promise<OpenPage> } {
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
    async open({ colorScheme = 'light', width = 1280 } = {}) {
      const context = await running.browser.newContext({ colorScheme, viewport: { width, height: 800 } });
      const page = await context.newPage();
      const { origin } = stack.address;
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
      await page.goto(`${origin}/docs`);
      await page.locator('#getHealth').waitFor();
      return { page, problems, [Symbol.asyncDispose]: () => context.close() };
    },
  };
}
