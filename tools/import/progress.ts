import type { Progress } from '../progress.ts';
import type { ImportProgress } from './load-file.ts';

/** @returns a function that reports an import's progress, with the time since its phase began */
export function reportTo(report: Progress): (progress: ImportProgress) => void {
  let current: string | undefined;
  let start = 0;
  return (progress) => {
    if (progress.phase !== current) start = performance.now();
    current = progress.phase;
    report.update(() => format(progress, (performance.now() - start) / 1000));
  };
}

function format({ phase, rows, bytesRead, size }: ImportProgress, seconds: number): string {
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  const total = size === null ? '' : ` of ${megabytes(size)}`;
  const read = phase.startsWith('reading') ? `, ${megabytes(bytesRead)}${total} MB` : '';
  return `${phase}: ${rows.toLocaleString('en-US')} rows${read}, ${Math.round(seconds)} s`;
}
