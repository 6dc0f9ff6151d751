import { expectConformance } from './conformance.ts';
import { stackAddress } from './stack-address.ts';

/** A complete response of the service. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
}

export interface RequestOptions {
  readonly key?: string | undefined;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** The service's origin, without a trailing slash. */
export const origin = () => stackAddress().origin;

/**
 * Sends a request to the API. @param path after the base path, such as `/surveys`; see
 * {@link fetchService}
 */
export function fetchApi(path: string, options: RequestOptions = {}): Promise<ApiResponse> {
  return fetchService(`/api/v1${path}`, options);
}

/**
 * Sends a request and checks that the response conforms to /openapi.json. The connection is not
 * kept open: on a busy machine, the service could close it just as the next request is sent.
 *
 * @param path after the origin, sent unchanged
 */
export async function fetchService(
  path: string,
  { key, method = 'GET', headers = {} }: RequestOptions = {},
): Promise<ApiResponse> {
  const received = await fetch(origin() + path, {
    method,
    headers: {
      Connection: 'close',
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...headers,
    },
  });

  const bytes = Buffer.from(await received.arrayBuffer());
  const response = {
    status: received.status,
    headers: received.headers,
    bytes,
    text: bytes.toString('utf8'),
  };

  await expectConformance(origin(), { method, path }, response);
  return response;
}

/** A query string with encoded parameters, without those that are undefined. */
export function query(
  parameters: Record<string, string | number | boolean | readonly string[] | undefined>,
): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => [name, one] as const),
  );

  return `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}

/** The exact body of an error. */
export const errorBody = (message: string) => JSON.stringify({ error: { message } });

/** A row of `/responses`. */
export type ResponseRow = Record<string, unknown> & { token: string };

export interface Page {
  readonly responses: ResponseRow[];
}
