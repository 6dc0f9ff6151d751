/** How much of a response is read for display: it can be gigabytes. */
export const PREVIEW_BYTES = 64 * 1024;

/**
 * @typedef {object} Request
 * @property {string} url
 * @property {string} key if empty, none is sent
 * @property {AbortSignal} signal
 */

/**
 * Sends a GET request to this service.
 *
 * @param {Request} request
 * @returns {Promise<globalThis.Response>}
 */
export const send = ({ url, key, signal }) =>
  fetch(url, { signal, cache: 'no-store', headers: key === '' ? {} : { Authorization: `Bearer ${key}` } });

/**
 * Sends a request and reads the beginning of the response, then disconnects, which makes the service stop.
 *
 * @param {Request} request
 */
export async function preview(request) {
  const start = performance.now();
  const response = await send(request);
  const milliseconds = performance.now() - start;
  const { text, bytes, isWhole } = await readBeginning(response);
  return { response, milliseconds, text, bytes, isWhole };
}

/** @param {globalThis.Response} response */
async function readBeginning({ body }) {
  if (!body) return { text: '', bytes: 0, isWhole: true };
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const reader = body.getReader();
  let text = '';
  let bytes = 0;
  while (bytes < PREVIEW_BYTES) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), bytes, isWhole: true };
    const part = value.subarray(0, PREVIEW_BYTES - bytes);
    bytes += part.length;
    text += decoder.decode(part, { stream: true });
  }
  await reader.cancel();
  return { text, bytes, isWhole: false };
}

/**
 * Sends a request and saves the response under the name in its `Content-Disposition`. Errors and interrupted responses are
 * not saved.
 *
 * @param {Request} request
 * @param {(bytes: number) => void} progress
 * @returns the response, with its text if it is an error, otherwise with the file's name and size in bytes
 */
export async function download(request, progress) {
  const response = await send(request);
  if (!response.ok || !response.body) return { response, text: (await readBeginning(response)).text };
  let bytes = 0;
  const counter = new TransformStream({
    /** @param {Uint8Array} chunk */
    transform(chunk, controller) {
      progress((bytes += chunk.length));
      controller.enqueue(chunk);
    },
  });
  // Through a Response, because the browser keeps its large bodies on disk.
  const file = await new Response(response.body.pipeThrough(counter)).blob();
  const name = fileName(response);
  save(new Blob([file], { type: response.headers.get('Content-Type') ?? '' }), name);
  return { response, name, bytes };
}

/**
 * The name of the file in a response.
 *
 * @param {globalThis.Response} response
 */
export const fileName = ({ headers }) =>
  /filename="(.*)"$/.exec(headers.get('Content-Disposition') ?? '')?.[1] ?? 'download';

/**
 * Hands a file over to the browser, which saves it among its downloads.
 *
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
