import type { Quota } from './quota.ts';

/**
 * A lease ends that its request has not renewed for so long, in milliseconds: the runtime can end a
 * request without a word.
 */
const EXPIRES_MS = 60_000;
const RENEWS_MS = 5_000;

/** The leases of all requests. */
const leases = new Set<Lease>();

const NOTHING = { amount: 0, kept: 0 };

/** What a request of an account holds of an isolate's resources. */
export class Lease {
  readonly account: string;
  /** Whether the response has begun. */
  hasBegun = false;
  /** Whether the request has ended, and can neither hold nor wait for anything. */
  hasEnded = false;
  /** What its reservations hold of each quota together, and what is counted at least. */
  readonly #held = new Map<Quota, { readonly amount: number; readonly kept: number }>();
  readonly #reservations = new Set<Reservation>();
  #renewed = 0;
  /** A request's timers end with it. */
  readonly #timer = setInterval(() => this.#renew(), RENEWS_MS);

  constructor(account: string) {
    this.account = account;
    leases.add(this);
    this.#renew();
  }

  /** Part of a quota: nothing yet. */
  reserve(quota: Quota): Reservation {
    return new Reservation(quota, this);
  }

  /** Takes part of a quota: see {@link Reservation.acquire}. */
  async acquire(quota: Quota, amount: number, signal: AbortSignal): Promise<Reservation> {
    const reservation = this.reserve(quota);
    await reservation.acquire(amount, signal);
    return reservation;
  }

  /**
   * Takes part of a quota likewise, for all its reservations together, and keeps it until the
   * request ends.
   */
  async keep(quota: Quota, amount: number, signal: AbortSignal): Promise<void> {
    const missing = await this.acquire(
      quota,
      Math.max(0, amount - (this.#held.get(quota) ?? NOTHING).amount),
      signal,
    );
    this.#held.set(quota, { ...(this.#held.get(quota) ?? NOTHING), kept: amount });
    missing.release();
  }

  /**
   * Counts what a reservation takes or, if negative, releases. @returns false if there is no room;
   * nothing has changed then
   */
  count(reservation: Reservation, change: number): boolean {
    if (this.hasEnded) return true;
    const { quota } = reservation;
    const { amount, kept } = this.#held.get(quota) ?? NOTHING;
    if (!quota.take(this.account, Math.max(amount + change, kept) - Math.max(amount, kept)))
      return false;
    this.#held.set(quota, { amount: amount + change, kept });
    if (reservation.amount + change > 0) this.#reservations.add(reservation);
    else this.#reservations.delete(reservation);
    return true;
  }

  /**
   * Releases everything. @param canFree whether to free its memory too, which nothing must read
   * from any more
   */
  end(canFree = true): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    leases.delete(this);
    clearInterval(this.#timer);
    if (canFree) for (const { free } of this.#reservations) free?.();
    for (const [quota, { amount, kept }] of this.#held) {
      quota.take(this.account, -Math.max(amount, kept));
      quota.serve(this);
    }
  }

  /** Also ends the leases that have expired, so that no other request waits for what they hold. */
  #renew(): void {
    this.#renewed = performance.now();
    for (const lease of leases) if (this.#renewed - lease.#renewed > EXPIRES_MS) lease.end(false);
  }
}

/** Part of a quota that a request holds, until it releases it or ends. */
export class Reservation {
  readonly quota: Quota;
  /** Only `resize` changes it. */
  amount = 0;
  /** Frees the memory that is counted. */
  free: (() => void) | undefined;
  readonly #lease: Lease;

  constructor(quota: Quota, lease: Lease) {
    this.quota = quota;
    this.#lease = lease;
  }

  /**
   * Sets what is held, after a wait if there is no room for it.
   *
   * @throws LimitError if there is none in time, or if too many requests of the account wait
   * already
   * @throws the signal's reason
   */
  async acquire(amount: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const before = this.amount;
    if (!this.resize(amount)) await this.quota.wait(this.#lease, () => this.resize(amount), signal);
    if (signal.aborted) this.resize(before); // since there was room
    signal.throwIfAborted();
  }

  /** Sets what is held. @returns false if there is no room for it; nothing has changed then */
  resize(amount: number): boolean {
    const change = amount - this.amount;
    if (!this.#lease.count(this, change)) return false;
    this.amount = amount;
    if (change < 0) this.quota.serve(this.#lease);
    return true;
  }

  release(): void {
    this.free = undefined;
    this.resize(0);
  }
}
