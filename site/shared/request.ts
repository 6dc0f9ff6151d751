/** How much of a response is read for display: it can be gigabytes. */
export const PREVIEW_BYTES = 64 * 1024;

/** A GET request. */
export interface Request {
  readonly url: string;
  /** If empty, none is sent. */
  readonly key: string;
  readonly signal: AbortSignal;
}

/** A response to display, with the beginning of its body, decoded. */
export interface Preview {
  readonly response: Response;
  /** The time until the headers arrived. */
  readonly milliseconds: number;
  readonly text: string;
  readonly bytes: number;
  /** Whether it is the whole body. */
  readonly isWhole: boolean;
}

/** Sends a GET request to this service. */
export const send = ({ url, key, signal }: Request): Promise<Response> =>
  fetch(url, {
    signal,
    cache: 'no-store',
    headers: key === '' ? {} : { Authorization: `Bearer ${key}` },
  });

/**
 * Sends a request and reads the beginning of the response, then disconnects, which makes the
 * service stop.
 */
export async function preview(request: Request): Promise<Preview> {
  const start = performance.now();
  const response = await send(request);
  const milliseconds = performance.now() - start;
  return { response, milliseconds, ...(await readBeginning(response)) };
}

async function readBeginning({
  body,
}: Response): Promise<Omit<Preview, 'response' | 'milliseconds'>> {
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

/** The name of the file in a response. */
export const fileName = ({ headers }: Response): string =>
  /filename="(.*)"$/.exec(headers.get('Content-Disposition') ?? '')?.[1] ?? 'download';

/** Hands a file over to the browser, which saves it among its downloads. */
export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
