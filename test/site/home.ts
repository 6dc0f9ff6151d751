import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { OpenPage } from './browser.ts';

/** What Chromium logs about a survey without responses, which has status 500. */
const NO_RESPONSES = /status of 500/;

/** Enters a key on the page at `/`. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Show my surveys' }).click();
}

/** Expects a page to have no problems but surveys without responses, and none of those if `provoked` is another pattern. */
export function expectNoProblems({ problems }: OpenPage, provoked: RegExp = NO_RESPONSES): void {
  expect(problems.filter((problem) => !provoked.test(problem))).toEqual([]);
}

/** Holds all requests for a path of the API until `release` is called. `held` is their number. */
export async function hold(page: Page, path: string): Promise<{ readonly held: number; release(): void }> {
  const gate = Promise.withResolvers<void>();
  let held = 0;
  await page.route(`**/api/v1${path}*`, async (route) => {
    held++;
    await gate.promise;
    await route.continue();
  });
  return {
    get held() {
      return held;
    },
    release: gate.resolve,
  };
}

/** Starts to record layout shifts. @returns a function that returns the sum of their scores */
export async function recordShifts(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`
    shifts = 0;
    const add = (entries) => entries.forEach((entry) => (shifts += entry.value));
    shiftObserver = new PerformanceObserver((list) => add(list.getEntries()));
    shiftObserver.observe({ type: 'layout-shift' });
    addShifts = () => add(shiftObserver.takeRecords());`);
  return () => page.evaluate<number>('(addShifts(), shifts)');
}
