import { origin } from '../../support/api.ts';
import { description, expectConformance } from '../../support/conformance.ts';
import { sendRaw } from '../../support/raw-http.ts';
import { leaksIn } from '../checks/leaks.ts';
import { BUSY } from '../checks/read.ts';
import type { Action } from '../context.ts';
import { hostileRequest } from '../requests/hostile-request.ts';

const STATUSES = new Set([200, 204, 302, 304, 400, 401, 404, 405, 500]);

/**
 * Sends a hostile request to an account with a survey named `fuzzed`. Every response must be complete and documented, reveal
 * nothing, and have no header that a request could have caused.
 */
export const sendHostile: Action = async ({ stack, world, hostile, served, tally }, random) => {
  const request = hostileRequest(random);
  const { method, target } = request;
  const described = `hostile: ${JSON.stringify(request).slice(0, 1000)}`;
  try {
    const response = await sendRaw(stack.worker.directUrl, request, hostile.key);
    const { status, headers, text } = response;
    const leaks = leaksIn(undefined, world.accounts, { ...response, complete: true });
    if (leaks.length > 0) throw new Error(`reveals ${leaks.join(', ')}`);
    if (!headers.has('X-Request-Id')) {
      if (!/^(?:200|304|307|4\d\d|501|505)$/.test(String(status)))
        throw new Error(`status ${status}, not by the service`);
      tally.pass(`hostile: ${status} by workerd, or a static file`);
      return;
    }
    served.set(headers.get('X-Request-Id') ?? '', true);
    if (BUSY.has(headers.get('X-Error-Code') ?? '')) {
      tally.pass('hostile: refused because of others');
      return;
    }
    if (!STATUSES.has(status)) throw new Error(`status ${status} ${text.slice(0, 300)}`);
    if (status >= 400 && method !== 'HEAD' && !isError(text))
      throw new Error(`status ${status} with the body ${text.slice(0, 300)}`);
    if (
      status === 500 &&
      method !== 'HEAD' &&
      !text.startsWith('{"error":{"message":"No responses were found for survey: ')
    )
      throw new Error(text);
    const path = target.replace(/[?#].*$/s, '');
    // A request to upgrade reaches the service as GET, whatever its method.
    const isUpgrade = request.headers.some((line) => /^upgrade:/i.test(line));
    if (path in (await description(origin())).paths && !isUpgrade)
      await expectConformance(origin(), { method, path }, response);
    tally.pass(`hostile: ${status}`);
  } catch (error) {
    throw new Error(`${described}: ${(error as Error).message}`, { cause: error });
  }
};

/** Whether a body is `{"error":{"message":…}}`, with nothing else. */
function isError(text: string): boolean {
  const { error, ...others } = JSON.parse(text) as { error?: { message?: unknown } };
  return typeof error?.message === 'string' && Object.keys({ ...error, ...others }).length === 1;
}
