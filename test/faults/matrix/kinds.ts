import { type Page, query } from '../../support/api.ts';
import { type TestSurvey, addResponses, createAccount, createSurvey } from '../../support/data.ts';
import { type Download, download } from './download.ts';

/** A request whose answer must survive faults, and that answer as it is without any. */
export interface Kind {
  readonly name: string;
  readonly whole: Buffer;
  /** Requests that it costs the database. */
  readonly requests: number;
  ask(headers?: Record<string, string>): Promise<Download>;
}

/** What makes a kind. */
interface Recipe {
  readonly path: string;
  readonly headers?: Record<string, string>;
}

/** Answers of some 4 kB, so that these make several pages. */
const ROWS = 1500;

/** Each answer is told from all others, those of the other account too. */
const MARK = /#[\w-]+:\d+#/g;

/** The answers that are in a file. */
export const answersIn = (file: Buffer): string[] => file.toString('utf8').match(MARK) ?? [];

/** Two accounts have a survey of the same name and shape. @returns the one that is asked for */
export async function createTwins(): Promise<TestSurvey> {
  const create = async () => {
    const account = await createAccount();
    const survey = await createSurvey(account, 'twins', 3);
    await addResponses(
      survey,
      Array.from({ length: ROWS }, (_, i) => ({
        form: i % 3,
        userid: `u${i % 97}`,
        question_ref: `q${Math.floor(i / 97)}`,
        timestamp: new Date(Date.UTC(2026, 2, 1) + Math.floor(i / 3) * 1000).toISOString(),
        response: `#${account.id}:${i}# "quoted", ${'x'.repeat(4000)}`,
      })),
    );
    return survey;
  };
  const [asked] = [await create(), await create()];
  return asked;
}

/** @param countRequests runs something and says how many requests it cost the database */
export async function kindsOf(
  survey: TestSurvey,
  countRequests: (work: () => Promise<unknown>) => Promise<number>,
): Promise<Kind[]> {
  const key = { Authorization: `Bearer ${survey.account.key}` };
  const of = (path: string, parameters: Record<string, string | number> = {}) =>
    path + query({ survey: survey.name, ...parameters });
  const start = await download(of('/responses', { pageSize: 300 }), key);
  const after = (JSON.parse(start.bytes.toString()) as Page).responses.at(-1)?.token ?? '';
  const recipes: Record<string, Recipe> = {
    csv: { path: of('/responses/csv') },
    'csv with filters': { path: of('/responses/csv', { shortcode: 'f0', since: '2026-03-01T00:00:30Z' }) },
    'csv resumed': { path: of('/responses/csv', { after, count: 'true' }) },
    'csv under gzip': { path: of('/responses/csv'), headers: { 'Accept-Encoding': 'gzip' } },
    wide: { path: of('/responses/csv', { layout: 'wide' }) },
    ndjson: { path: of('/responses/ndjson') },
    'ndjson under gzip': { path: of('/responses/ndjson'), headers: { 'Accept-Encoding': 'gzip' } },
    'a page': { path: of('/responses', { pageSize: 1000 }) },
    'the next page': { path: of('/responses', { pageSize: 700, after }) },
    'form versions': { path: of('/responses/form-data') },
    surveys: { path: '/surveys' },
  };
  const kinds: Kind[] = [];
  for (const [name, { path, headers }] of Object.entries(recipes)) {
    const ask = (more: Record<string, string> = {}) => download(path, { ...key, ...headers, ...more });
    const whole = await ask();
    if (whole.status !== 200 || !whole.complete) throw new Error(`${name}: ${whole.status} without a fault`);
    kinds.push({ name, ask, whole: whole.bytes, requests: await countRequests(ask) });
  }
  return kinds;
}
