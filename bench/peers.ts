import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import QueryStream from 'pg-query-stream';
import { isoTimestamp, render } from '../src/db/sql.ts';
import type { BenchSurvey } from './data.ts';

/** The cost of an export, and its size. */
export interface Run {
  readonly seconds: number;
  readonly bytes: number;
  /** CPU time of this process. */
  readonly cpuSeconds: number;
}

/** The rows of an export in one query. */
function exportQuery({ forms }: BenchSurvey): string {
  return `
    select parent_surveyid, parent_shortcode, surveyid, flowid, userid, question_ref, question_idx, question_text,
      response, ${render(isoTimestamp('r.timestamp')).text} as timestamp, metadata, metadata->>'ad_id' as ad_id, pageid,
      translated_response
    from responses r where surveyid in (${forms.map((id) => `'${id}'`).join(', ')})
    order by r.timestamp, userid, question_ref, surveyid`;
}

/** Postgres's own CSV: `COPY (… ORDER BY …) TO STDOUT`, read by node-postgres and discarded. */
export function copyExport(client: pg.Client, survey: BenchSurvey): Promise<Run> {
  return timed((sink) =>
    pipeline(
      client.query(copyTo(`copy (${exportQuery(survey)}) to stdout (format csv, header)`)),
      sink,
    ),
  );
}

/**
 * The usual way on Node: rows from a cursor, written by a CSV library. Values stay text, as in the
 * service.
 */
export function streamExport(client: pg.Client, survey: BenchSurvey): Promise<Run> {
  const asText = { getTypeParser: () => (value: string) => value };
  const rows = new QueryStream(exportQuery(survey), [], { batchSize: 1000, types: asText });
  return timed((sink) => pipeline(client.query(rows), stringify({ header: true }), sink));
}

/** Measures work that writes to a sink, which only counts bytes. */
export async function timed(work: (sink: Writable) => Promise<void>): Promise<Run> {
  let bytes = 0;
  const sink = new Writable({
    write(chunk: Buffer, _, done) {
      bytes += chunk.length;
      done();
    },
  });
  const start = performance.now();
  const cpu = process.cpuUsage();
  await work(sink);
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - start) / 1000, bytes, cpuSeconds: (user + system) / 1e6 };
}
