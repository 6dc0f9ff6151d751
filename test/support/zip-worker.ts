// Writes a ZIP file with one entry of `?chunks=<n>` chunks that cannot be compressed, in workerd.
import { zip } from '../../src/formats/xlsx/zip.ts';

const CHUNK_BYTES = 64 * 1024;

export default {
  /**
   * `?fail=<n>`: reading the nth chunk fails. `?leave=<n>`: the reader stops after n chunks of the file.
   *
   * @returns the file, and in the header Test-Ahead the most bytes that were read before the file was; or, for an incomplete
   *   file, how it ended
   */
  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const number = (name: string) => Number(searchParams.get(name) ?? Infinity);
    const [chunks, fail, leave] = [number('chunks'), number('fail'), number('leave')];
    const chunk = crypto.getRandomValues(new Uint8Array(CHUNK_BYTES));
    let [given, taken, ahead] = [0, 0, 0];
    let hasEnded = false;
    async function* data(): AsyncGenerator<Uint8Array, void, void> {
      try {
        for (let i = 1; i <= chunks; i++) {
          if (i === fail) throw new Error('no more chunks');
          given += chunk.length;
          ahead = Math.max(ahead, given - taken);
          yield chunk;
        }
      } finally {
        hasEnded = true;
      }
    }
    const file = [];
    let error: unknown;
    try {
      for await (const part of zip([{ name: 'entry', data: data() }])) {
        file.push(part.slice());
        taken += part.length;
        if (file.length === leave) break;
      }
    } catch (thrown) {
      error = thrown;
    }
    if (error === undefined && file.length !== leave) {
      return new Response(new Blob(file), { headers: { 'Test-Ahead': String(ahead) } });
    }
    return Response.json({ error: error instanceof Error ? error.message : undefined, hasEnded });
  },
};
