import type { Context } from 'hono';
import type { AppEnv } from '../app-env.ts';
import { attachment, csvHeader } from '../csv/file.ts';
import { CSV_COLUMNS } from '../db/responses.ts';
import { findForms } from '../db/surveys.ts';
import { noResponses } from '../errors.ts';
import { type CsvExportPage, csvReader } from '../export/csv-reader.ts';
import { readAhead } from '../export/read-ahead.ts';
import { streamChunks } from '../export/stream.ts';
import { surveyParam } from '../params.ts';

/** GET /responses/csv: all of a survey's responses, as one streamed CSV file. */
export async function getResponsesCsv(c: Context<AppEnv>): Promise<Response> {
  const survey = surveyParam(c);
  const { db, account } = c.var;
  const ending = new AbortController();
  const signal = AbortSignal.any([c.var.signal, ending.signal]);

  const forms = await findForms(db, account.id, survey, signal);
  if (forms.length === 0) throw noResponses(survey, account.email);
  const pages = readAhead(csvReader(db, forms, signal));
  const first = (await pages.next()).value;
  if (!first?.last) throw noResponses(survey, account.email);

  const headers = attachment('responses');
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);
  return c.body(streamChunks(bodyOf(first, pages), ending), 200, headers);
}

async function* bodyOf(
  first: CsvExportPage,
  rest: AsyncIterable<CsvExportPage>,
): AsyncGenerator<Uint8Array, void, void> {
  yield csvHeader(CSV_COLUMNS);
  yield first.csv;
  first.release();
  for await (const page of rest) {
    if (page.rowCount > 0) yield page.csv;
    page.release();
  }
}
