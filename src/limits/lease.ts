import type { Shares } from './shares.ts';

/** A lease ends that its request has not renewed for so long, in milliseconds: the runtime can end a request without a word. */
const EXPIRES_MS = 60_000;
const RENEWS_MS = 20_000;

/** The leases of all requests. */
const leases = new Set<Lease>();

/** What a request of an account holds of an isolate's resources. */
export class Lease {
  readonly account: string;
  /** Whether the response has begun. It then waits however many others do, since to refuse it would abort the transfer. */
  hasBegun = false;
  readonly #held = new Map<Shares, number>();
  /** A request's timers end with it. */
  readonly #timer = setInterval(() => (this.#renewed = performance.now()), RENEWS_MS);
  #renewed = performance.now();

  constructor(account: string) {
    this.account = account;
    leases.add(this);
  }

  heldOf(shares: Shares): number {
    return this.#held.get(shares) ?? 0;
  }

  /** Takes a share. @returns false if there is none at the moment */
  take(shares: Shares, amount: number): boolean {
    if (shares.roomFor(this.account) < amount) endExpired();
    if (shares.roomFor(this.account) < amount) return false;
    this.count(shares, amount);
    return true;
  }

  /** Takes a share, if necessary after a wait: see {@link Shares.wait}. */
  async acquire(shares: Shares, amount: number, ms: number | undefined, signal: AbortSignal): Promise<boolean> {
    return this.take(shares, amount) || shares.wait(this, amount, ms, signal);
  }

  /** Counts what the request holds, whether there is room or not. */
  count(shares: Shares, amount: number): void {
    if (this.hasEnded || amount === 0) return;
    this.#held.set(shares, this.heldOf(shares) + amount);
    shares.count(this.account, amount);
  }

  /** Returns a share. */
  release(shares: Shares, amount: number): void {
    this.count(shares, -amount);
  }

  /** Returns everything. */
  end(): void {
    if (!leases.delete(this)) return;
    clearInterval(this.#timer);
    for (const [shares, amount] of this.#held) if (amount > 0) shares.count(this.account, -amount);
  }

  /** Ends with a transfer, or at once if the body is not streamed. */
  endAfter(transfer: Promise<unknown> | undefined): void {
    if (transfer) void transfer.then(() => this.end());
    else this.end();
  }

  /** Whether the request has ended, and can neither hold nor wait for anything. */
  get hasEnded(): boolean {
    return !leases.has(this);
  }

  get #isExpired(): boolean {
    return performance.now() - this.#renewed > EXPIRES_MS;
  }

  static endExpired(): void {
    for (const lease of leases) if (lease.#isExpired) lease.end();
  }
}

const endExpired = () => Lease.endExpired();
