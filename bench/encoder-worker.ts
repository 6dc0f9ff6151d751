// The encoder alone, in workerd: a canned page of SQL over HTTP, posted to it, goes through again and again.
import { neon, neonConfig } from '@neondatabase/serverless';
import { transcodePage } from '../src/csv/page.ts';

type Row = (string | null)[];
const asText = { getTypeParser: () => (value: string) => value };
const utf8 = new TextEncoder();

/** One page through the service's encoder, which uses its input up. */
async function transcoded(canned: ArrayBuffer): Promise<Uint8Array> {
  return transcodePage(new Uint8Array(canned.slice(0)), [9, 4, 5, 2]).csv;
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

export default {
  /** POST /transcoded?pages=N or /driver-rows?pages=N, the page as the body: streams N pages of CSV. */
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const encode = pathname === '/transcoded' ? transcoded : fromDriverRows;
    const canned = await request.arrayBuffer();
    let left = Number(searchParams.get('pages'));
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (left-- > 0) controller.enqueue(await encode(canned));
        else controller.close();
      },
    });
    return new Response(body);
  },
};
