import type { Params } from './api.ts';
import type { Summaries, Summary } from './summaries.ts';

/** How many surveys are counted at a time: the service runs two at a time for a key. */
const AT_ONCE = 2;

/** Shows the counts of a survey or, if they are undefined, why there are none. */
type Show = (result: {
  readonly counts?: Summary | undefined;
  readonly error?: unknown;
  readonly retry: () => void;
}) => void;

/** Adds the row of a survey. Counts that are known are shown at once. */
export type CountRow = (row: HTMLElement, survey: string, show: Show) => void;

/** Counts the responses of surveys whose rows are visible. */
export function countVisible(summaries: Summaries, signal: AbortSignal): CountRow {
  const tasks = new Map<Element, () => Promise<void>>();
  const waiting = new Set<Element>();
  let running = 0;

  const startNext = () => {
    for (const row of waiting) {
      if (running === AT_ONCE || signal.aborted) return;
      waiting.delete(row);
      observer.unobserve(row);
      running++;
      void run(row);
    }
  };

  const run = async (row: Element) => {
    await tasks.get(row)?.();
    running--;
    startNext();
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
    const params: Params = [['survey', survey]];
    const counts = summaries.known(params);
    if (counts) show({ counts, retry });

    tasks.set(row, async () => {
      try {
        show({ counts: await summaries.get(params, signal), retry });
      } catch (error) {
        if (!signal.aborted) show({ error, retry });
      }
    });
    return observer.observe(row);
  };
}
