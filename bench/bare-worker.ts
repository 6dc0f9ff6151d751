// The export engine alone, without keys, parameters, compression or any other feature around it.
import { BASE_PATH } from '../src/app.ts';
import { connect } from '../src/db/client.ts';
import { CSV_COLUMNS } from '../src/db/responses.ts';
import { findSurvey } from '../src/db/surveys.ts';
import { csvHeader } from '../src/encode/csv-cell.ts';
import type { Env } from '../src/env.ts';
import { csvFormat } from '../src/export/formats.ts';
import { ExportLease } from '../src/export/limits.ts';
import { pageReader } from '../src/export/page-reader.ts';
import { readAhead } from '../src/export/read-ahead.ts';
import { streamChunks } from '../src/http/stream.ts';

/** `<base path>/<account>?survey=<name>` */
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const db = connect(env);
    const ending = new AbortController();
    const signal = AbortSignal.any([request.signal, ending.signal]);
    const formVersions = await findSurvey(
      db,
      pathname.slice(BASE_PATH.length + 1),
      searchParams.get('survey') ?? '',
      request.signal,
    );
    const lease = new ExportLease('bench');
    const pages = readAhead(pageReader(db, { formVersions }, csvFormat(), signal), lease);
    async function* body() {
      yield csvHeader(CSV_COLUMNS);
      for await (const page of pages) {
        yield page.data;
        page.release();
      }
      lease.end();
    }
    return new Response(streamChunks(body(), ending));
  },
} satisfies ExportedHandler<Env>;
