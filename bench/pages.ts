import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Cursor } from '../src/responses/cursor.ts';
import { Proof } from '../src/db/proof.ts';
import { type Column, pageQuery } from '../src/db/responses.ts';
import { CSV_COLUMNS } from '../src/responses/columns.ts';
import type { Range } from '../src/responses/selection.ts';
import { isoTimestamp, render } from '../src/db/sql.ts';
import type { BenchAccount, BenchSurvey } from './data.ts';
import type { BenchService } from './service.ts';
import { median } from './statistics.ts';

const REPETITIONS = 25;

const selectionOf = (survey: BenchSurvey) => ({
  survey,
  formVersions: survey.forms.toSorted().map((id) => ({ id, shortcode: '' })),
});

/** The key of the row that has `before` rows after it in the survey. */
export async function keyFromEnd(
  client: pg.Client,
  survey: BenchSurvey,
  before: number,
): Promise<Required<Cursor>> {
  const { rows } = await client.query<Required<Cursor>>(
    `select ${render(isoTimestamp('r.timestamp')).text} as timestamp, userid, question_ref, surveyid
     from responses r where surveyid = any($1)
     order by r.timestamp desc, userid desc, question_ref desc, surveyid desc offset $2 limit 1`,
    [survey.forms, before],
  );
  if (!rows[0]) throw new Error(`${survey.name} has fewer than ${before} rows`);
  return rows[0];
}

/**
 * Milliseconds that Postgres takes for the first page and for the page after a cursor: medians of
 * alternating runs.
 */
export async function pageMs(
  client: pg.Client,
  survey: BenchSurvey,
  limit: number,
  after: Required<Cursor>,
): Promise<{ first: number; later: number }> {
  const times = { first: [] as number[], later: [] as number[] };
  for (let i = 0; i < REPETITIONS; i++) {
    times.first.push(await timePage(client, survey, { limit }));
    times.later.push(await timePage(client, survey, { limit, after }));
  }
  return { first: median(times.first), later: median(times.later) };
}

/** Milliseconds to plan and execute a page query. */
async function timePage(client: pg.Client, survey: BenchSurvey, range: Range): Promise<number> {
  const { text: sql, params } = new Proof(pageQuery(selectionOf(survey), range, CSV_COLUMNS))
    .statement;
  const { rows } = await client.query<{
    'QUERY PLAN': { 'Planning Time': number; 'Execution Time': number }[];
  }>(`explain (analyze, timing off, format json) ${sql}`, [...params]);
  const plan = rows[0]?.['QUERY PLAN'][0];
  return (plan?.['Planning Time'] ?? NaN) + (plan?.['Execution Time'] ?? NaN);
}

/** A page as the SQL-over-HTTP endpoint returns it. */
export async function cannedPage(
  client: pg.Client,
  survey: BenchSurvey,
  limit: number,
  columns: readonly Column[],
): Promise<Buffer> {
  const { text, params } = new Proof(pageQuery(selectionOf(survey), { limit }, columns)).statement;
  const types = { getTypeParser: () => (value: string) => value };
  const { rows, rowCount, fields } = await client.query({
    text,
    values: [...params],
    rowMode: 'array',
    types,
  });
  return Buffer.from(
    JSON.stringify({ fields, rows, command: 'SELECT', rowCount, rowAsArray: true }),
  );
}

/**
 * Milliseconds until each response ends, or until the first byte of a file: medians of alternating
 * requests.
 */
export async function responseMs(
  service: BenchService,
  account: BenchAccount,
  paths: readonly string[],
): Promise<number[]> {
  const times = paths.map((): number[] => []);
  for (let i = 0; i < REPETITIONS; i++) {
    for (const [at, path] of paths.entries()) {
      const isFile = /csv|ndjson/.test(path);
      const { seconds, firstByteSeconds } = await service.read(
        path,
        account,
        isFile ? 'first byte' : 'end',
      );
      times[at]?.push(1000 * (isFile ? firstByteSeconds : seconds));
      if (isFile) await sleep(200); // lets the request be cancelled
    }
  }
  return times.map(median);
}
