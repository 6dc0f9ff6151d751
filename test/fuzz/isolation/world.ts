/** Microseconds since 2026-03-01T00:00:00Z: a number that keeps all digits of a timestamp. */
export type Moment = number;

/** A row of `surveys`. Those of an account with the same name are one survey. */
export interface FormVersion {
  readonly id: string;
  readonly survey: string;
  shortcode: string;
  title: string;
  readonly created: Moment;
  /** JSON as Postgres prints it. */
  readonly metadata: string;
  /** The row of `survey_settings`, if there is one. */
  readonly settings: { readonly closes: Moment | null; readonly timeouts: string | null } | undefined;
}

export interface Response {
  readonly form: FormVersion;
  readonly parentId: string | null;
  readonly parentShortcode: string;
  readonly flowid: string;
  readonly userid: string;
  readonly question: string;
  readonly index: number;
  readonly questionText: string;
  readonly text: string;
  readonly at: Moment;
  readonly metadata: Metadata;
  readonly pageid: string | null;
  readonly translated: string | null;
}

/** JSON as Postgres prints it, and its `ad_id` as text. */
export interface Metadata {
  readonly json: string | null;
  readonly adId: string | null;
}

export interface Key {
  readonly token: string;
  /** Whether the service must accept it. */
  valid: boolean;
  /** Its expiry on the service's clock, if that is during the test. */
  readonly expires?: Date;
}

/** The service's clock (worker-under-faults.ts). */
export interface Clock {
  /** Milliseconds ahead of this process's clock. */
  ahead: number;
}

/** An account and its data, which no other account may see. */
export interface Account {
  readonly id: string;
  readonly email: string;
  /** Part of every text of the account, and of no other's. */
  readonly marker: string;
  readonly forms: FormVersion[];
  readonly responses: Response[];
  readonly keys: Key[];
}

export type World = readonly Account[];

/** The primary key of a response. */
export const primaryKeyOf = ({ form, at, userid, question }: Response): string =>
  JSON.stringify([form.id, at, userid, question]);

const START = Date.UTC(2026, 2, 1);

/** A timestamp as the API writes it: with three fraction digits, or six if the microseconds are not zero. */
export function timestampOf(moment: Moment): string {
  const rest = ((moment % 1000) + 1000) % 1000;
  const text = new Date(START + (moment - rest) / 1000).toISOString();
  return rest === 0 ? text : text.replace('Z', `${String(rest).padStart(3, '0')}Z`);
}

/** The element at an index, which wraps around at the end. */
export function pickOf<T>(from: readonly T[], index: number): T | undefined {
  return from[index % Math.max(1, from.length)];
}
