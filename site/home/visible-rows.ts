/** How many tasks run at a time: the service runs two scans at a time for a key. */
const AT_ONCE = 2;

/** Runs the task of a row when it is visible. */
export type WhenVisible = (row: Element, task: () => Promise<void>) => void;

/** Runs the tasks of rows that are visible, each once. */
export function visibleRows(signal: AbortSignal): WhenVisible {
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

  return (row, task) => {
    tasks.set(row, task);
    observer.observe(row);
  };
}
