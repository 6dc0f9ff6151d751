// The export engine alone, without keys, parameters, compression or anything else that the service has around it.
import { BASE_PATH } from '../src/app.ts';
import { csvHeader } from '../src/encode/csv-header.ts';
import { connect } from '../src/db/client.ts';
import { CSV_COLUMNS } from '../src/db/responses.ts';
import { findForms } from '../src/db/surveys.ts';
import type { Env } from '../src/env.ts';
import { csvReader } from '../src/export/csv-reader.ts';
import { readAhead } from '../src/export/read-ahead.ts';
import { streamChunks } from '../src/http/stream.ts';

/** `<base path>/<account>?survey=<name>` */
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const db = connect(env);
    const ending = new AbortController();
    const signal = AbortSignal.any([request.signal, ending.signal]);
    const forms = await findForms(
      db,
      pathname.slice(BASE_PATH.length + 1),
      searchParams.get('survey') ?? '',
      request.signal,
    );
    const pages = readAhead(csvReader(db, { forms }, signal));
    async function* body() {
      yield csvHeader(CSV_COLUMNS);
      for await (const page of pages) {
        yield page.data;
        page.release();
      }
    }
    return new Response(streamChunks(body(), ending));
  },
} satisfies ExportedHandler<Env>;
