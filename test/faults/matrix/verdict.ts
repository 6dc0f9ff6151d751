import type { Download } from './download.ts';
import { type Kind, answersIn } from './kinds.ts';

/** What came of a request under faults: the bytes it has without them, a failure that shows, or what must not be. */
export type Verdict =
  | { readonly is: 'same' | 'failure' }
  /** `lost`: answers that are missing in what looks whole; undefined when it does not. */
  | { readonly is: 'wrong'; readonly what: string; readonly lost?: number | undefined };

/** What each refusal says; nothing of it comes from the database. */
const MESSAGES: Readonly<Record<number, RegExp>> = {
  400: /^This selection has /,
  500: /^Something went wrong on our side\. Please tell us this request id: [\w-]+$/,
  503: /^The database cannot be reached at the moment\. Please try again shortly\.$/,
};

/** @param refusals the statuses with which this request may be refused; none means that it has to succeed */
export function judge(kind: Kind, download: Download, refusals: ReadonlySet<number>): Verdict {
  const { status, complete, bytes } = download;
  if (status === 200 && complete) {
    if (bytes.equals(kind.whole)) return { is: 'same' };
    const came = new Set(answersIn(bytes));
    const lost = kind.answers.filter((answer) => !came.has(answer)).length;
    return wrong(`a clean end after other bytes, ${lost} of ${kind.answers.length} rows lost`, lost);
  }
  if (refusals.size === 0) return wrong(`${status}, complete: ${complete}, but asking again would have helped`);
  if (status === 200) {
    const begun = kind.whole.subarray(0, bytes.length).equals(bytes);
    return begun ? { is: 'failure' } : wrong('a broken transfer, with bytes of something else');
  }
  if (!refusals.has(status)) return wrong(`${status}, where only ${[...refusals].join(' or ')} can be`);
  return judgeRefusal(download);
}

function judgeRefusal({ status, complete, bytes, retryAfter }: Download): Verdict {
  if (!complete) return wrong(`${status}, broken off`);
  const text = bytes.toString();
  if (status === 503 && !/^[1-9]\d*$/.test(retryAfter ?? '')) return wrong(`503, with Retry-After: ${retryAfter}`);
  return MESSAGES[status]?.test(messageOf(text)) ? { is: 'failure' } : wrong(`${status}, saying ${text.slice(0, 300)}`);
}

function messageOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } };
    return error?.message ?? '';
  } catch {
    return '';
  }
}

const wrong = (what: string, lost?: number): Verdict => ({ is: 'wrong', what, lost });
