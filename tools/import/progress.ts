import type { ImportProgress } from './import-files.ts';

/** Milliseconds between two reports: on a terminal, and where the output is kept. */
const EVERY_ON_TERMINAL = 100;
const EVERY_IN_LOG = 5_000;

export interface ProgressReport {
  update: (progress: ImportProgress) => void;
  /** Takes the line off the terminal, so that what follows starts on a clean one. */
  end: () => void;
}

/** Reports on an import's responses: one line that rewrites itself on a terminal, a line every few seconds elsewhere. */
export function reportProgress(stream: NodeJS.WriteStream): ProgressReport {
  const start = performance.now();
  const every = stream.isTTY ? EVERY_ON_TERMINAL : EVERY_IN_LOG;
  let reported = stream.isTTY ? 0 : start;
  let isShown = false;
  return {
    update(progress) {
      const now = performance.now();
      if (now - reported < every) return;
      reported = now;
      const words = inWords(progress, (now - start) / 1000);
      stream.write(stream.isTTY ? `\r${words}\u001B[K` : `${words}\n`);
      isShown = stream.isTTY;
    },
    end() {
      if (isShown) stream.write('\r\u001B[K');
      isShown = false;
    },
  };
}

function inWords({ rows, bytesRead, size }: ImportProgress, seconds: number): string {
  const share = size ? [`${Math.floor((100 * bytesRead) / size)}% of the file read`] : [];
  const rate = `${Math.round(rows / seconds).toLocaleString('en-US')} a second`;
  return [`${rows.toLocaleString('en-US')} responses`, ...share, rate].join(', ');
}
