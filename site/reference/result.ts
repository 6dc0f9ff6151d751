import { copyButton, element, listing } from '../shared/dom.ts';
import type { Preview } from '../shared/request.ts';
import { size } from '../shared/size.ts';
import { indent } from './indent.ts';

/** Shows a response: its status, headers and body. */
export function resultView({ response, milliseconds, text, bytes, isWhole }: Preview): HTMLElement[] {
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json') === true;
  const shown = isJson ? indent(text) : text;
  return [
    element(
      'p',
      { className: 'status' },
      statusBadge(response.status),
      ` ${Math.round(milliseconds)} ms to the headers · ${isWhole ? size(bytes) : `first ${size(bytes)}`}`,
    ),
    element(
      'details',
      {},
      element('summary', {}, 'Headers'),
      listing([...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'), 'Response headers'),
    ),
    isWhole
      ? undefined
      : element(
          'p',
          { className: 'cut' },
          'Only the beginning of the response was read. Download the file, or use curl, to get all of it.',
        ),
    text === ''
      ? undefined
      : element(
          'div',
          { className: 'listing' },
          listing(shown, 'Response body'),
          copyButton(() => text, 'the response body'),
        ),
  ].filter((part) => part !== undefined);
}

export const statusBadge = (status: number | string) =>
  element('span', { className: `badge ${Number(status) < 400 ? 'good' : 'bad'}` }, String(status));
