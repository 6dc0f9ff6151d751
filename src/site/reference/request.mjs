/** An answer can be gigabytes; this much of it is read to be looked at. */
export const PREVIEW_BYTES = 64 * 1024;

/**
 * @typedef {object} Request
 * @property {string} url
 * @property {string} key empty: none is sent
 * @property {AbortSignal} signal
 */

/** @param {Request} request */
const send = ({ url, key, signal }) =>
  fetch(url, { signal, cache: 'no-store', headers: key === '' ? {} : { Authorization: `Bearer ${key}` } });

/**
 * Asks, and reads the beginning of the answer. The rest is not fetched: the service notices, and stops.
 *
 * @param {Request} request
 */
export async function preview(request) {
  const start = performance.now();
  const answer = await send(request);
  const milliseconds = performance.now() - start;
  const { text, bytes, whole } = await readBeginning(answer);
  return { answer, milliseconds, text, bytes, whole };
}

/** @param {globalThis.Response} answer */
async function readBeginning({ body }) {
  if (!body) return { text: '', bytes: 0, whole: true };
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const reader = body.getReader();
  let text = '';
  let bytes = 0;
  while (bytes < PREVIEW_BYTES) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), bytes, whole: true };
    const part = value.subarray(0, PREVIEW_BYTES - bytes);
    bytes += part.length;
    text += decoder.decode(part, { stream: true });
  }
  await reader.cancel();
  return { text, bytes, whole: false };
}

/**
 * Asks, reads all of the answer, and saves it under the name it comes with. Nothing is saved when the answer is an error or
 * breaks off.
 *
 * @param {Request} request
 * @param {(bytes: number) => void} progress
 * @returns the answer, its body read
 */
export async function download(request, progress) {
  const answer = await send(request);
  if (!answer.ok || !answer.body) return { answer, text: (await readBeginning(answer)).text };
  let bytes = 0;
  const counter = new TransformStream({
    /** @param {Uint8Array} chunk */
    transform(chunk, controller) {
      progress((bytes += chunk.length));
      controller.enqueue(chunk);
    },
  });
  // As a response's body, because the browser keeps a large one on the disk.
  const file = await new Response(answer.body.pipeThrough(counter)).blob();
  const name = /filename="(.*)"$/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1] ?? 'download';
  save(new Blob([file], { type: answer.headers.get('Content-Type') ?? '' }), name);
  return { answer, name, bytes };
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function save(blob, name) {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
