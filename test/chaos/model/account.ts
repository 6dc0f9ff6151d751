/** Microseconds since 2026-03-01T00:00:00Z: a number that keeps all digits of a timestamp. */
export type Moment = number;

/** A row of `surveys`. Those of an account with the same name are one survey. */
export interface FormVersion {
  readonly id: string;
  readonly survey: string;
  readonly shortcode: string;
  readonly title: string;
  readonly created: Moment;
  /** JSON as Postgres prints it. */
  readonly metadata: string;
  /** The row of `survey_settings`, if there is one. */
  readonly settings: { readonly closes: Moment | null; readonly timeouts: string | null } | undefined;
}

/** A row of `responses`. */
export interface Response {
  /** The id of its form version. */
  readonly form: string;
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

/** JSON as Postgres prints it, and the texts of its keys. */
export interface Metadata {
  readonly json: string | null;
  readonly values: Readonly<Record<string, string>>;
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
  /** Keys that stay valid. */
  readonly keys: string[] = [];
  readonly #states: Data[] = [{ forms: [], responses: [] }];
  #committed = 0;

  constructor(id: string) {
    this.id = id;
    this.marker = `mk${id.replaceAll('-', '')}km`;
  }

  get email(): string {
    return `${this.marker}@example.org`;
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
  async write(next: Data, store: () => Promise<unknown>): Promise<void> {
    this.#states.push(next);
    await store();
    this.#committed = this.#states.length - 1;
  }
}

/** What orders responses. */
export type Position = Pick<Response, 'at' | 'userid' | 'question' | 'form'>;

/** The order of responses, in files and by cursor. */
export const byCursor = (a: Position, b: Position): number =>
  compareLists([a.at, a.userid, a.question, a.form], [b.at, b.userid, b.question, b.form]);

/** The order of form versions. */
export const byCreation = (a: FormVersion, b: FormVersion): number =>
  compareLists([a.created, a.id], [b.created, b.id]);

/** Compares by the first elements that differ. */
export function compareLists(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [i, value] of a.entries()) {
    const other = b[i] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

/** The primary key of a response. */
export const primaryKeyOf = ({ form, at, userid, question }: Response): string =>
  JSON.stringify([form, at, userid, question]);

/** The page token of a response. @param older whether to use the older format, without the form version */
export function tokenOf({ at, userid, question, form }: Position, older = false): string {
  const text = older
    ? `${timestampOf(at)},${userid},${question}`
    : JSON.stringify([1, timestampOf(at), userid, question, form]);
  return Buffer.from(text).toString('base64url');
}

/** The position of the response that has a page token. */
export function positionOf(token: string): Position {
  const text = Buffer.from(token, 'base64url').toString();
  const [, timestamp, userid, question, form] = JSON.parse(text) as [1, string, string, string, string];
  return {
    at: 1000 * (Date.parse(timestamp) - START) + Number(/\d{3}(?=Z)/.exec(timestamp.slice(23))?.[0] ?? 0),
    userid,
    question,
    form,
  };
}

const START = Date.UTC(2026, 2, 1);

/** Milliseconds since 1970, rounded down. */
export const millisecondsOf = (moment: Moment): number => START + Math.floor(moment / 1000);

const timestamps = new Map<Moment, string>();

/** A timestamp as the API writes it: with three fraction digits, or six if the microseconds are not zero. */
export function timestampOf(moment: Moment): string {
  const known = timestamps.get(moment);
  if (known !== undefined) return known;
  const rest = ((moment % 1000) + 1000) % 1000;
  const text = new Date(millisecondsOf(moment)).toISOString();
  const timestamp = rest === 0 ? text : text.replace('Z', `${String(rest).padStart(3, '0')}Z`);
  timestamps.set(moment, timestamp);
  return timestamp;
}
