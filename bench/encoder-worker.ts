// The encoder alone, in workerd: it encodes one canned page of SQL over HTTP, the request's body,
// many times.
import { neon, neonConfig } from '@neondatabase/serverless';
import { free } from '../src/encode/bytes.ts';
import { keyColumnsOf } from '../src/db/responses.ts';
import { CSV_COLUMNS, JSON_COLUMNS } from '../src/responses/columns.ts';
import { type PageFormat, csvPages, jsonPages } from '../src/formats/page-format.ts';
import { RequestStats } from '../src/http/request-stats.ts';
import { streamChunks } from '../src/http/stream.ts';

type Row = (string | null)[];
const asText = { getTypeParser: () => (value: string) => value };
const utf8 = new TextEncoder();
/** How the last row of the canned page begins: see db/proof.ts. */
const LAST = utf8.encode('["r');
const KEY_COLUMNS = keyColumnsOf(JSON_COLUMNS);
const CSV = csvPages({ columns: CSV_COLUMNS });
const OBJECTS = jsonPages({ after: '\n' });

/**
 * Sends pages through an encoder of the service. It overwrites its input, so each page starts as a
 * copy of the canned one. In the service, the network fills that memory.
 */
async function* encoded(
  { encode }: PageFormat,
  canned: Uint8Array,
  pages: number,
): AsyncGenerator<Uint8Array, void, void> {
  const rows = rowsIn(canned);
  const page = new Uint8Array(canned.length);
  for (let i = 0; i < pages; i++) {
    page.set(canned);
    const { data } = encode(page, rows, LAST);
    yield data;
    if (data.buffer !== page.buffer) free(data);
  }
}

/** The position of a page's rows. */
const rowsIn = (page: Uint8Array) =>
  new TextDecoder().decode(page.subarray(0, 10_000)).indexOf('"rows":') + '"rows":'.length;

/** A page's rows as the driver returns them, parsed from its bytes. */
async function driverRows(canned: BufferSource): Promise<Row[]> {
  const json = async () => JSON.parse(new TextDecoder().decode(canned)) as unknown;
  neonConfig.fetchFunction = async () => ({ ok: true, status: 200, json });
  const sql = neon('postgresql://user:password@localhost/db', { disableWarningInBrowsers: true });
  return (await sql.query('', [], { arrayMode: true, types: asText })) as Row[];
}

function csvRecord(row: Row): string {
  const cells = row.map((cell) => {
    if (cell === null) return '';
    return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  });
  return `${cells.join(',')}\n`;
}

/**
 * A row as an object with its token, written the straightforward way. JSON in a column must keep
 * its digits.
 */
function jsonLine(row: Row): string {
  const members = JSON_COLUMNS.map((name, i) => {
    const value = name === 'metadata' ? row[i] : JSON.stringify(row[i]);
    return `"${name}":${value}`;
  });
  const key = utf8.encode(JSON.stringify([1, ...KEY_COLUMNS.map((column) => row[column])]));
  const token = btoa(String.fromCharCode(...key));
  return `{${members.join(',')},"shortcode":"form","token":"${token}"}\n`;
}

/** One page per pull, written the straightforward way with the driver. */
function streamOfDriverRows(
  canned: ArrayBuffer,
  pages: number,
  write: (row: Row) => string,
): ReadableStream<Uint8Array> {
  let left = pages;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (left-- === 0) return controller.close();
      controller.enqueue(utf8.encode((await driverRows(canned)).map(write).join('')));
    },
  });
}

export default {
  /**
   * POST /transcoded?pages=N or /driver-rows?pages=N, with the page as the body: streams N pages of
   * CSV. POST /objects?pages=N or /driver-objects?pages=N: the same as JSON. POST
   * /discarded?pages=N: encodes without a stream, discards the output, and returns its number of
   * bytes.
   */
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const pages = Number(searchParams.get('pages'));
    const canned = await request.arrayBuffer();
    if (pathname === '/driver-rows')
      return new Response(streamOfDriverRows(canned, pages, csvRecord));
    if (pathname === '/driver-objects')
      return new Response(streamOfDriverRows(canned, pages, jsonLine));
    if (pathname === '/discarded') {
      let bytes = 0;
      for await (const csv of encoded(CSV, new Uint8Array(canned), pages)) bytes += csv.length;
      return new Response(String(bytes));
    }
    const format = pathname === '/objects' ? OBJECTS : CSV;
    const requestAbort = new AbortController();
    const { signal } = requestAbort;
    const client = {
      requestAbort,
      signal,
      requestId: '',
      stats: new RequestStats(),
      checkKey: async () => {},
    };
    return new Response(
      streamChunks(encoded(format, new Uint8Array(canned), pages), client, { isFile: true }),
    );
  },
};
