import type { Download } from './download.ts';
import { type Kind, rowsIn } from './kinds.ts';

/** The outcome of a request with faults: the same bytes as without them, a visible failure, or an error of the service. */
export type Outcome =
  | { readonly type: 'same' | 'failure' }
  /** `lost`: rows that are missing from a response that looks complete. */
  | { readonly type: 'wrong'; readonly problem: string; readonly lost?: number | undefined };

/** The messages of the documented errors. */
const MESSAGES: Readonly<Record<number, RegExp>> = {
  400: /^This selection has /,
  500: /^Something went wrong on our side\. Please tell us this request id: [\w-]+$/,
  503: /^The database cannot be reached at the moment\. Please try again shortly\.$/,
};

/** @param refusals the allowed error statuses; if there are none, the request must succeed */
export function outcomeOf(kind: Kind, download: Download, refusals: ReadonlySet<number>): Outcome {
  const { status, complete, bytes, before } = download;
  if (status === 200 && complete) {
    if (bytes.equals(kind.whole)) return { type: 'same' };
    const [whole, received] = [new Set(kind.rows), new Set(rowsIn(bytes))];
    const lost = kind.rows.filter((row) => !received.has(row)).length;
    const foreign = [...received].filter((row) => !whole.has(row)).length;
    const problem = `complete, but with other bytes; ${lost} of ${kind.rows.length} rows lost, ${foreign} foreign`;
    return wrong(problem, lost);
  }
  if (refusals.size === 0) return wrong(`status ${status}, complete: ${complete}, but a retry would have succeeded`);
  const received = status === 200 ? Buffer.concat([before, bytes]) : before;
  if (!kind.whole.subarray(0, received.length).equals(received)) return wrong('other bytes before a failure');
  if (status === 200) return { type: 'failure' };
  if (!refusals.has(status)) return wrong(`status ${status}, expected ${[...refusals].join(' or ')}`);
  return outcomeOfRefusal(download);
}

function outcomeOfRefusal({ status, complete, bytes, retryAfter }: Download): Outcome {
  if (!complete) return wrong(`${status}, broken off`);
  const text = bytes.toString();
  if (status === 503 && !/^[1-9]\d*$/.test(retryAfter ?? '')) return wrong(`503, with Retry-After: ${retryAfter}`);
  return MESSAGES[status]?.test(messageOf(text))
    ? { type: 'failure' }
    : wrong(`${status}, with the body ${text.slice(0, 300)}`);
}

function messageOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } };
    return error?.message ?? '';
  } catch {
    return '';
  }
}

const wrong = (problem: string, lost?: number): Outcome => ({ type: 'wrong', problem, lost });
