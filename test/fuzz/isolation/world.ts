/** A moment: microseconds since 2026-03-01T00:00:00Z, a number that holds every digit. */
export type Moment = number;

/** A form version. The versions of an account's survey share its name. */
export interface Form {
  readonly id: string;
  readonly survey: string;
  shortcode: string;
  title: string;
  readonly created: Moment;
  /** JSON as Postgres prints it. */
  readonly metadata: string;
  /** Undefined without settings. */
  readonly settings: { readonly closes: Moment | null; readonly timeouts: string | null } | undefined;
}

export interface Response {
  readonly form: Form;
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

/** JSON as Postgres prints it, and what its `ad_id` is as text. */
export interface Metadata {
  readonly json: string | null;
  readonly adId: string | null;
}

export interface Key {
  readonly token: string;
  /** Whether it gives access. */
  good: boolean;
  /** When it ends, by the service's clock. */
  readonly end?: Date;
}

/** The service's clock: see `worker-with-clock.ts`. */
export interface Clock {
  /** Milliseconds. */
  ahead: number;
}

/** All that an account has, and nobody else may see. */
export interface Account {
  readonly id: string;
  readonly email: string;
  /** Stands in all of its texts, and in nobody else's. */
  readonly marker: string;
  readonly forms: Form[];
  readonly responses: Response[];
  readonly keys: Key[];
}

export type World = readonly Account[];

/** Rows of one form cannot be alike in this. */
export const placeOf = ({ form, at, userid, question }: Response): string =>
  JSON.stringify([form.id, at, userid, question]);

const START = Date.UTC(2026, 2, 1);

/** The API's timestamps: three fraction digits, or six when they are needed. */
export function isoOf(moment: Moment): string {
  const rest = ((moment % 1000) + 1000) % 1000;
  const text = new Date(START + (moment - rest) / 1000).toISOString();
  return rest === 0 ? text : text.replace('Z', `${String(rest).padStart(3, '0')}Z`);
}

/** One of several, of whatever number. */
export function pickOf<T>(from: readonly T[], number: number): T | undefined {
  return from[number % Math.max(1, from.length)];
}
