import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { timed } from './peers.ts';
import { startWorker } from '../test/support/worker.ts';
import { treeCpu, workerdStartedBy } from './process-stats.ts';

/** Rows per CPU-second, by encoder. */
export interface EncoderRates {
  /** Our CSV encoder, streamed out of workerd. */
  readonly transcoded: number;
  /** Our CSV encoder, output discarded. */
  readonly discarded: number;
  /** The driver's rows as CSV, streamed out of workerd. */
  readonly driverRows: number;
  /** Our JSON encoder, streamed out of workerd. */
  readonly objects: number;
  /** The driver's rows as JSON, streamed out of workerd. */
  readonly driverObjects: number;
  /** csv-stringify on Node, output discarded. */
  readonly csvStringify: number;
}

const PAGES = 150;
const TURNS = 4;

/**
 * Encodes the same page, starting from its bytes, with each encoder: ours and the driver's rows in
 * workerd, csv-stringify on Node.
 *
 * @param page a response of SQL over HTTP
 * @param jsonPage the same rows, with the columns of `/responses`
 */
export async function measureEncoders(page: Buffer, jsonPage: Buffer): Promise<EncoderRates> {
  const { rows } = JSON.parse(page.toString('utf8')) as { rows: (string | null)[][] };
  const { started, workerd } = await workerdStartedBy(() =>
    startWorker('bench/encoder-worker.ts', {}),
  );
  await using worker = started;
  const inWorkerd = async (encoder: string, of = page) => {
    const start = treeCpu(workerd);
    await post(new URL(`/${encoder}?pages=${PAGES}`, worker.url), of);
    return (rows.length * PAGES) / (treeCpu(workerd) - start);
  };
  // Alternating, and the best of each: the first turn warms up, and noise only makes a run slower.
  const best = {
    transcoded: 0,
    discarded: 0,
    driverRows: 0,
    objects: 0,
    driverObjects: 0,
    csvStringify: 0,
  };
  for (let turn = 0; turn < TURNS; turn++) {
    best.transcoded = Math.max(best.transcoded, await inWorkerd('transcoded'));
    best.discarded = Math.max(best.discarded, await inWorkerd('discarded'));
    best.driverRows = Math.max(best.driverRows, await inWorkerd('driver-rows'));
    best.objects = Math.max(best.objects, await inWorkerd('objects', jsonPage));
    best.driverObjects = Math.max(best.driverObjects, await inWorkerd('driver-objects', jsonPage));
    best.csvStringify = Math.max(best.csvStringify, await onNode(page, rows.length));
  }
  return best;
}

async function post(url: URL, body: Buffer): Promise<void> {
  const request = send(url, { method: 'POST' });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  await timed((sink) => pipeline(response, sink));
}

async function onNode(page: Buffer, rowCount: number): Promise<number> {
  const pages = 15;
  const start = process.cpuUsage();
  await timed((sink) => pipeline(rowsOf(page, pages), stringify(), sink));
  const { user, system } = process.cpuUsage(start);
  return (rowCount * pages) / ((user + system) / 1e6);
}

/**
 * The page's rows, repeated. Parses the page each time, because the other encoders also start from
 * bytes.
 */
function* rowsOf(page: Buffer, times: number): Generator<(string | null)[], void> {
  for (let i = 0; i < times; i++) {
    yield* (JSON.parse(page.toString('utf8')) as { rows: (string | null)[][] }).rows;
  }
}
