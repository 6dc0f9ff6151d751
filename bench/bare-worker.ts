// The export engine alone, without keys, parameters, compression or any other feature around it.
import { Connection } from '../src/db/client.ts';
import { CSV_COLUMNS } from '../src/responses/columns.ts';
import { findSurvey } from '../src/db/surveys.ts';
import { csvHeader } from '../src/encode/records.ts';
import type { Env } from '../src/env.ts';
import { csvPages } from '../src/formats/page-format.ts';
import { BASE_PATH } from '../src/http/endpoint.ts';
import { RequestStats } from '../src/http/request-stats.ts';
import { streamChunks } from '../src/http/stream.ts';
import { databaseInSlots } from '../src/db/database.ts';
import { RequestSlots } from '../src/limits/slots.ts';
import { pageReader } from '../src/read/page-reader.ts';
import { readAhead } from '../src/read/read-ahead.ts';

/** `<base path>/<account>?survey=<name>` */
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const requestAbort = new AbortController();
    const signal = AbortSignal.any([request.signal, requestAbort.signal]);
    const slots = new RequestSlots('bench');
    const stats = new RequestStats();
    const db = databaseInSlots(new Connection(env, stats.queries, signal), slots);
    const survey = {
      accountId: pathname.slice(BASE_PATH.length + 1),
      name: searchParams.get('survey') ?? '',
      limits: null,
    };
    const formVersions = await findSurvey(db, survey);
    await slots.take('file', signal);
    const selection = { survey, formVersions };
    const reader = pageReader(db, selection, csvPages({ columns: CSV_COLUMNS }), 'file');
    const pages = readAhead(reader, slots, await reader.page({ limit: 500 }), signal);
    async function* body() {
      yield csvHeader(CSV_COLUMNS);
      for await (const page of pages) {
        yield page.data;
        page.release();
      }
      await slots.end();
    }
    const client = { requestAbort, signal, requestId: '', stats, checkKey: async () => {} };
    slots.hasBegun = true;
    return new Response(streamChunks(body(), client, { isFile: true }));
  },
} satisfies ExportedHandler<Env>;
