import { z } from '@hono/zod-openapi';
import { answerStream, answerWhole } from '../http/send.ts';
import { concat } from '../encode/bytes.ts';
import { countResponses, hasResponses, pageVersionQuery } from '../db/responses.ts';
import { findForms } from '../db/surveys.ts';
import { type ListVersion, findListVersion, listVersionOf } from '../db/row-versions.ts';
import { endpoint } from '../http/endpoint.ts';
import { noResponses } from '../http/errors.ts';
import { etagOf } from '../http/etag.ts';
import { type JsonPage, readJsonPages } from '../export/json-pages.ts';
import { examples } from '../openapi/examples.ts';
import { withHeaders } from '../openapi/headers.ts';
import { reference } from '../openapi/reference.ts';
import { notModifiedResponse, surveyResponses } from '../openapi/responses.ts';
import { after, count, filters, pageSize, survey } from '../http/params.ts';
import type { RequestStats } from '../http/request-stats.ts';
import { select } from '../responses/selection.ts';
import { answerIfUnchanged } from '../http/not-modified.ts';

const utf8 = new TextEncoder();
const OPENING = utf8.encode('{"responses":[');
const CLOSING = utf8.encode(']}');
/** Of a page's objects: the first of a list has no comma before it. */
const withoutComma = (json: Uint8Array<ArrayBuffer>) => json.subarray(1);

/** GET /responses: a page of a survey's responses, as JSON. */
export const responses = endpoint({
  path: '/responses',
  operationId: 'listResponses',
  tags: ['Responses'],
  summary: 'A page of responses',
  description: 'A page of a survey’s responses as JSON, in the order of time, participant, question and form version.',
  query: z.object({ ...survey, ...after, ...pageSize, ...filters, ...count }),
  responses: {
    ...notModifiedResponse,
    ...surveyResponses,
    200: {
      description: 'The page; an empty one behind the last response.',
      headers: withHeaders('ETag', 'X-Total-Count'),
      content: { 'application/json': { schema: reference('schemas', 'Page'), example: examples.page } },
    },
  },

  async handle(c, query) {
    const { db, account, stats, signal, ending } = c.var;

    const forms = await findForms(db, account.id, query.survey, signal);
    if (forms.length === 0) throw noResponses(query.survey, account.email);
    const selection = select(forms, query);
    const range = { after: query.after, limit: query.pageSize };
    const etagFor = (version: ListVersion) => etagOf(account.id, selection.forms, version);
    const currentEtag = async () => {
      const version = await findListVersion(db, pageVersionQuery(selection, range), signal);
      return version.rowCount > 0 || (await hasResponses(db, forms, signal)) ? etagFor(version) : undefined;
    };
    // A total is no part of the page, and changes without it.
    const unchanged = query.count ? undefined : await answerIfUnchanged(c, currentEtag);
    if (unchanged) return unchanged;

    const pages = readJsonPages(db, selection, range, signal);
    const [first, total] = await Promise.all([
      pages.next().then(({ value }) => value as JsonPage),
      query.count ? countResponses(db, selection, query.after, signal) : undefined,
    ]);
    if (first.rowCount === 0 && !(await hasResponses(db, forms, signal)))
      throw noResponses(query.survey, account.email);

    const headers = {
      'Content-Type': 'application/json',
      ...(total === undefined ? {} : { 'X-Total-Count': String(total) }),
    };
    if (first.complete) {
      stats.rows = first.rowCount;
      const etag = query.count ? {} : { ETag: await etagFor(await listVersionOf(first.versions)) };
      return answerWhole(c, concat(OPENING, withoutComma(first.json), CLOSING), { ...headers, ...etag });
    }
    if (c.req.method === 'HEAD') return c.body(null, 200, headers);
    return answerStream(c, bodyOf(first, pages, stats), ending, headers);
  },
});

/** Rows too large for one page: they are sent as they are read. */
async function* bodyOf(
  first: JsonPage,
  rest: AsyncIterable<JsonPage>,
  stats: RequestStats,
): AsyncGenerator<Uint8Array, void, void> {
  yield OPENING;
  yield withoutComma(first.json);
  stats.rows += first.rowCount;
  for await (const page of rest) {
    yield page.json;
    stats.rows += page.rowCount;
  }
  yield CLOSING;
}
