import { copyable, html, listing } from '../shared/dom.ts';
import type { Preview } from '../shared/request.ts';
import { size } from '../shared/size.ts';
import { indent } from './indent.ts';

const CUT = 'Only the beginning of the response was read. The curl command gets all of it.';

/** Shows a response: its status, headers and body. */
export function resultView({
  response,
  milliseconds,
  text,
  bytes,
  isWhole,
}: Preview): HTMLElement[] {
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json') === true;
  const body = copyable('Response body');
  body.show(isJson ? indent(text) : text, text);
  return [
    html.p(
      'status',
      statusBadge(response.status),
      ` ${Math.round(milliseconds)} ms to the headers · ${isWhole ? size(bytes) : `first ${size(bytes)}`}`,
    ),
    html.details(
      {},
      html.summary({}, 'Headers'),
      listing(
        [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'),
        'Response headers',
      ),
    ),
    ...(isWhole ? [] : [html.p('cut', CUT)]),
    ...(text === '' ? [] : [body.element]),
  ];
}

export const statusBadge = (status: number | string) =>
  html.span(`badge ${Number(status) < 400 ? 'good' : 'bad'}`, String(status));
