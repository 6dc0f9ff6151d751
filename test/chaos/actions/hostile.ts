import { origin } from '../../support/api.ts';
import { description, expectConformance } from '../../support/conformance.ts';
import { sendRaw } from '../../support/raw-http.ts';
import { leaksIn } from '../checks/leaks.ts';
import { isBusy } from '../checks/read.ts';
import type { Action, Context } from '../context.ts';
import { hostileRequest } from '../requests/hostile-request.ts';

const STATUSES = new Set([200, 204, 302, 304, 400, 401, 404, 405, 500]);

/**
 * Sends a hostile request to an account with a survey named `fuzzed`. Every response must be
 * complete and documented, reveal nothing, and have no header that a request could have caused.
 */
export const sendHostile: Action = async (context, random) => {
  const request = hostileRequest(random);
  try {
    context.tally.pass(`hostile: ${await responseTo(context, request)}`);
  } catch (error) {
    const described = `hostile: ${JSON.stringify(request).slice(0, 1000)}`;
    throw new Error(`${described}: ${(error as Error).message}`, { cause: error });
  }
};

/** Sends a request, and checks its response. @returns its kind */
async function responseTo(
  { stack, world, hostile, served }: Context,
  request: ReturnType<typeof hostileRequest>,
) {
  const { method, target } = request;
  const path = target.replace(/[?#].*$/s, '');
  const response = await sendRaw(stack.worker.directUrl, request, hostile.key);
  const { status, headers, text } = response;
  const leaks = leaksIn(undefined, world.accounts, response);
  if (leaks.length > 0) throw new Error(`reveals ${leaks.join(', ')}`);
  if (!headers.has('X-Request-Id')) {
    if (/^(?:200|304|307|4\d\d|501|505)$/.test(String(status)))
      return `${status} by workerd, or a static file`;
    throw new Error(`status ${status}, not by the service`);
  }
  served.set(headers.get('X-Request-Id') ?? '', true);
  if (isBusy(response)) return 'refused because of others';
  if (!STATUSES.has(status)) throw new Error(`status ${status} ${text.slice(0, 300)}`);
  const error =
    method === 'HEAD' || status < 400 ? undefined : /^{"error":{"message":"(.*)"}}$/s.exec(text);
  if (error === null) throw new Error(`an error with the body ${text.slice(0, 300)}`);
  if (status === 500 && error && !error[1]?.startsWith('No responses were found for survey: '))
    throw new Error(text);
  if (path in (await description(origin())).paths)
    await expectConformance(origin(), { method, path }, response);
  return status;
}
