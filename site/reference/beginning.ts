/** How much of a response is read: it can be gigabytes. */
const MAX_BYTES = 64 * 1024;

/**
 * Sends a request and reads the beginning of the response: one byte more than is shown, if it is
 * longer. Then it disconnects, which makes the service stop.
 */
export async function fetchBeginning(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options);
  const reader = response.body?.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;

  while (size <= MAX_BYTES) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done || !value) break;
    pieces.push(value.subarray(0, MAX_BYTES + 1 - size));
    size += value.length;
  }
  await reader?.cancel();

  return new Response(new Blob(pieces), response);
}

/** Whether a body that {@link fetchBeginning} has read is a part of the response's. */
export const isPart = (body: Blob | string) => new Blob([body]).size > MAX_BYTES;
