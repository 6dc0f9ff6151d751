// The encoder alone, in workerd: a canned page of SQL over HTTP, posted to it, goes through again and again.
import { neon, neonConfig } from '@neondatabase/serverless';
import { transcodePage } from '../src/csv/page.ts';
import { streamChunks } from '../src/export/stream.ts';

type Row = (string | null)[];
const asText = { getTypeParser: () => (value: string) => value };
const utf8 = new TextEncoder();

/**
 * Pages through the service's encoder and its stream. The encoder uses its input up, which in the service is memory that
 * the network has just filled; here it is filled from the canned page.
 */
async function* transcoded(canned: Uint8Array, pages: number): AsyncGenerator<Uint8Array, void, void> {
  const page = new Uint8Array(canned.length);
  for (let i = 0; i < pages; i++) {
    page.set(canned);
    yield transcodePage(page, [9, 4, 5, 2]).csv;
  }
}

/** One page through the driver, its rows put into CSV one by one. */
async function fromDriverRows(canned: ArrayBuffer): Promise<Uint8Array> {
  const json = async () => JSON.parse(new TextDecoder().decode(canned)) as unknown;
  neonConfig.fetchFunction = async () => ({ ok: true, status: 200, json });
  const sql = neon('postgresql://user:password@localhost/db', { disableWarningInBrowsers: true });
  const rows = (await sql.query('', [], { arrayMode: true, types: asText })) as Row[];
  return utf8.encode(rows.map(csvRecord).join(''));
}

function csvRecord(row: Row): string {
  const cells = row.map((cell) => {
    if (cell === null) return '';
    return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  });
  return `${cells.join(',')}\n`;
}

/** One page a pull, as one would write it with the driver. */
function streamOfDriverRows(canned: ArrayBuffer, pages: number): ReadableStream<Uint8Array> {
  let left = pages;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (left-- > 0) controller.enqueue(await fromDriverRows(canned));
      else controller.close();
    },
  });
}

export default {
  /**
   * POST /transcoded?pages=N or /driver-rows?pages=N, the page as the body: streams N pages of CSV.
   * POST /discarded?pages=N: the encoder without a stream, its output thrown away; answers with the bytes there were.
   */
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const pages = Number(searchParams.get('pages'));
    const canned = await request.arrayBuffer();
    if (pathname === '/driver-rows') return new Response(streamOfDriverRows(canned, pages));
    if (pathname === '/discarded') {
      let bytes = 0;
      for await (const csv of transcoded(new Uint8Array(canned), pages)) bytes += csv.length;
      return new Response(String(bytes));
    }
    return new Response(streamChunks(transcoded(new Uint8Array(canned), pages), new AbortController()));
  },
};
