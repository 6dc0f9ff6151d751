// Fetches pages and streams them, as an export does, and does nothing else: shows the memory that
// the runtime itself takes.
import { free } from '../src/encode/bytes.ts';

/** `?pages=<number>&from=<URL of a page>` */
export default {
  fetch(request) {
    const { searchParams } = new URL(request.url);
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    const stream = async () => {
      for (let left = Number(searchParams.get('pages')); left > 0; left--) {
        const response = await fetch(searchParams.get('from') ?? '');
        const page = new Uint8Array(await response.arrayBuffer());
        await writer.write(page);
        free(page);
      }
      await writer.close();
    };
    void stream().catch((error: unknown) => writer.abort(error));
    return new Response(readable);
  },
} satisfies ExportedHandler;
