/** Other accounts should not delay an account's pages of JSON until this long after it requested one, in milliseconds. */
const RECENT_MS = 1_000;

/** When each account last requested a page of JSON, the latest last. */
const lastJsonPageAt = new Map<string, number>();

/** Notes that an account requests a page of JSON, which other accounts should not delay. */
export function noteJsonPage(account: string): void {
  const now = Date.now();
  lastJsonPageAt.delete(account);
  lastJsonPageAt.set(account, now);
  for (const [other, time] of lastJsonPageAt) {
    if (time >= now - RECENT_MS) return;
    lastJsonPageAt.delete(other);
  }
}

/** Whether another account has just requested a page of JSON. */
export function isBesideJsonPages(account: string): boolean {
  const since = Date.now() - RECENT_MS;
  return [...lastJsonPageAt].some(([other, time]) => other !== account && time >= since);
}
