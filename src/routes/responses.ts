import type { Context } from 'hono';
import type { AppEnv } from '../app-env.ts';
import { hasResponses } from '../db/responses.ts';
import { findForms } from '../db/surveys.ts';
import { noResponses } from '../errors.ts';
import { type JsonPage, readJsonPages } from '../export/json-pages.ts';
import { streamChunks } from '../export/stream.ts';
import { afterParam, pageSizeParam, surveyParam } from '../params.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const utf8 = new TextEncoder();

/** GET /responses: a page of a survey's responses, as JSON. */
export async function getResponses(c: Context<AppEnv>): Promise<Response> {
  const survey = surveyParam(c);
  const after = afterParam(c);
  const limit = pageSizeParam(c);
  const { db, account } = c.var;
  const ending = new AbortController();
  const signal = AbortSignal.any([c.var.signal, ending.signal]);

  const forms = await findForms(db, account.id, survey, signal);
  if (forms.length === 0) throw noResponses(survey, account.email);
  const pages = readJsonPages(db, forms, { after, limit }, signal);
  const first = (await pages.next()).value as JsonPage;
  const pastTheLast = first.rowCount === 0 && after && (await hasResponses(db, forms, signal));
  if (first.rowCount === 0 && !pastTheLast) throw noResponses(survey, account.email);

  if (first.complete) return c.body(`{"responses":[${first.json}]}`, 200, JSON_TYPE);
  if (c.req.method === 'HEAD') return c.body(null, 200, JSON_TYPE);
  return c.body(streamChunks(bodyOf(first, pages), ending), 200, JSON_TYPE);
}

/** Rows too large for one page: they are sent as they are read. */
async function* bodyOf(first: JsonPage, rest: AsyncIterable<JsonPage>): AsyncGenerator<Uint8Array, void, void> {
  yield utf8.encode(`{"responses":[${first.json}`);
  for await (const page of rest) if (page.rowCount > 0) yield utf8.encode(`,${page.json}`);
  yield utf8.encode(']}');
}
