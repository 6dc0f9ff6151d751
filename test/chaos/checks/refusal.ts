import type { Received } from '../requests/send.ts';

/** The messages of the documented errors that faults cause. */
const MESSAGES: Readonly<Record<number, RegExp>> = {
  400: /^This selection has /,
  500: /^Something went wrong on our side\. Please tell us this request id: [\w-]+$/,
  503: /^The database cannot be reached at the moment\. Please try again shortly\.$/,
};

/** @returns what is wrong with an error that faults explain; undefined if nothing is */
export function problemInRefusal({ status, complete, bytes, headers }: Received, isHead: boolean): string | undefined {
  if (!complete) return `${status}, broken off`;
  const retryAfter = headers.get('Retry-After');
  if (status === 503 && !/^[1-9]\d*$/.test(retryAfter ?? '')) return `503, with Retry-After: ${retryAfter}`;
  if (isHead) return undefined;
  const { error } = JSON.parse(bytes.toString()) as { error?: { message?: string } };
  return MESSAGES[status]?.test(error?.message ?? '')
    ? undefined
    : `${status}, with the body ${bytes.toString().slice(0, 300)}`;
}
