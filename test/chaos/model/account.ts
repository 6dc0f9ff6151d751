import type { Row } from '../../support/wide.ts';

/** Microseconds since 2026-03-01T00:00:00Z: a number that keeps all digits of a timestamp. */
export type Moment = number;

const START = Date.UTC(2026, 2, 1);

/**
 * A timestamp as the API writes it: with three fraction digits, or six if the microseconds are not
 * zero.
 */
export function timestampOf(moment: Moment): string {
  const rest = ((moment % 1000) + 1000) % 1000;
  const text = new Date(START + Math.floor(moment / 1000)).toISOString();
  return rest === 0 ? text : text.replace('Z', `${String(rest).padStart(3, '0')}Z`);
}

/** A row of `surveys`. Those of an account with the same name are one survey. */
export interface FormVersion {
  readonly id: string;
  readonly survey: string;
  readonly shortcode: string;
  readonly title: string;
  readonly created: Moment;
  /** JSON as Postgres prints it. */
  readonly metadata: string;
  /** A timestamp of `survey_settings`, which has no row if all are null. */
  readonly closes: string | null;
  readonly timeouts: string | null;
}

/** A row of `responses`. */
export interface Response extends Row {
  /** Its timestamp. */
  readonly at: Moment;
}

/** The rows of an account between two writes. */
export interface Data {
  readonly forms: readonly FormVersion[];
  readonly responses: readonly Response[];
}

/** An account, and all data that it has had. No other account may see any of it. */
export class Account {
  readonly id: string;
  /** Part of every text of the account, and of no other's. */
  readonly marker: string;
  readonly email: string;
  /** Keys that stay valid. */
  readonly keys: string[] = [];
  readonly #states: Data[] = [{ forms: [], responses: [] }];
  #committed = 0;

  constructor(id: string) {
    this.id = id;
    this.marker = `mk${id.replaceAll('-', '')}km`;
    this.email = `${this.marker}@example.org`;
  }

  get data(): Data {
    return this.#states[this.#committed] as Data;
  }

  /** @returns all data that the account has had since this call, at least partly */
  watch(): () => readonly Data[] {
    const first = this.#committed;
    return () => this.#states.slice(first);
  }

  /** Changes the data. One change at a time. @param store commits them */
  async write(change: Partial<Data>, store: () => Promise<unknown>): Promise<void> {
    this.#states.push({ ...this.data, ...change });
    await store();
    this.#committed = this.#states.length - 1;
  }
}
