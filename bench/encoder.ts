import { once } from 'node:events';
import { type IncomingMessage, request as send } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { timed } from './peers.ts';
import { startWorker } from '../test/support/worker.ts';
import { treeCpu, workerdStartedBy } from './process-stats.ts';

/** Rows per second of CPU, by encoder. */
export interface EncoderRates {
  readonly transcoded: number;
  readonly driverRows: number;
  readonly csvStringify: number;
}

const PAGES = 150;

/**
 * Puts the same page through each encoder: ours and driver rows through a pull-based ReadableStream in workerd,
 * csv-stringify on Node.
 *
 * @param page a response of SQL over HTTP
 */
export async function measureEncoders(page: Buffer): Promise<EncoderRates> {
  const { rows } = JSON.parse(page.toString('utf8')) as { rows: (string | null)[][] };
  const { started, workerd } = await workerdStartedBy(() => startWorker('bench/encoder-worker.ts', {}));
  await using worker = started;
  const inWorkerd = async (encoder: string) => {
    const run = (pages: number) => post(new URL(`/${encoder}?pages=${pages}`, worker.url), page);
    await run(PAGES); // warm up
    const start = treeCpu(workerd);
    await run(PAGES);
    return (rows.length * PAGES) / (treeCpu(workerd) - start);
  };
  return {
    transcoded: await inWorkerd('transcoded'),
    driverRows: await inWorkerd('driver-rows'),
    csvStringify: await onNode(rows),
  };
}

async function post(url: URL, body: Buffer): Promise<void> {
  const request = send(url, { method: 'POST' });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  await timed((sink) => pipeline(response, sink));
}

async function onNode(rows: (string | null)[][]): Promise<number> {
  const pages = 5;
  const start = process.cpuUsage();
  await timed((sink) => pipeline(repeat(rows, pages), stringify(), sink));
  const { user, system } = process.cpuUsage(start);
  return (rows.length * pages) / ((user + system) / 1e6);
}

function* repeat<T>(rows: readonly T[], times: number): Generator<T, void> {
  for (let i = 0; i < times; i++) yield* rows;
}
