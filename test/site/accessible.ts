import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const DISPLAYS = [
  { colorScheme: 'dark', width: 320 },
  { colorScheme: 'light', width: 1280 },
] as const;

/** Opens everything that can be opened. */
export const openDetails = (page: Page) =>
  page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))");

/**
 * Expects a page to be accessible and to fit the window, on a phone and on a desktop, on which it
 * ends.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  for (const { colorScheme, width } of DISPLAYS) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 800 });
    const boxes =
      "['html', '.downloads ul'].map((name) => document.querySelector(name)?.scrollWidth ?? 0)";
    expect(Math.max(...(await page.evaluate<number[]>(boxes)))).toBe(width);
    const violations = await page.evaluate(async () => {
      const { axe: checker } = globalThis as unknown as { axe: typeof axe };
      // the others take most of the time
      const { violations: found } = await checker.run({ resultTypes: ['violations'] });
      return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    });
    expect(violations).toEqual([]);
  }
}
