/** How many surveys are counted at a time: the service runs two at a time for a key. */
const AT_ONCE = 2;
/** How long the list of surveys and their counts are remembered, in milliseconds. */
export const FRESH = 60_000;

/** @typedef {import('./api.mjs').Summary} Summary */
/** @typedef {(result: { counts?: Summary, error?: unknown, retry: () => void }) => void} Show */

/** By the API that belongs to a key, and the survey's name. @type {WeakMap<object, Map<string, { counts: Summary, at: number }>>} */
const remembered = new WeakMap();

/**
 * Counts the responses of surveys whose rows are visible.
 *
 * @param {import('./api.mjs').Api} api
 * @param {AbortSignal} signal
 * @returns {(row: HTMLElement, survey: string, show: Show) => void} adds a row; counts of the last minute are shown at once
 */
export function countVisible(api, signal) {
  const known = remembered.get(api) ?? new Map();
  remembered.set(api, known);
  /** @type {Map<Element, () => Promise<void>>} */
  const tasks = new Map();
  /** @type {Set<Element>} */
  const waiting = new Set();
  let running = 0;

  const startNext = () => {
    for (const row of waiting) {
      if (running === AT_ONCE || signal.aborted) return;
      waiting.delete(row);
      observer.unobserve(row);
      running++;
      void tasks
        .get(row)?.()
        .finally(() => {
          running--;
          startNext();
        });
    }
  };
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) waiting.add(target);
      else waiting.delete(target);
    }
    startNext();
  });
  signal.addEventListener('abort', () => observer.disconnect());

  return (row, survey, show) => {
    const retry = () => observer.observe(row);
    const { counts, at } = known.get(survey) ?? { at: -Infinity };
    if (performance.now() - at < FRESH) return show({ counts, retry });
    tasks.set(row, async () => {
      try {
        const result = await api.summary([['survey', survey]], signal);
        known.set(survey, { counts: result, at: performance.now() });
        show({ counts: result, retry });
      } catch (error) {
        if (!signal.aborted) show({ error, retry });
      }
    });
    return observer.observe(row);
  };
}
