import { copyButton, element, listing } from './dom.mjs';
import { indent } from './indent.mjs';

const KIB = 1024;

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < KIB) return `${bytes} bytes`;
  return bytes < KIB * KIB ? `${round(bytes / KIB)} KiB` : `${round(bytes / KIB / KIB)} MiB`;
}

/** @param {number} value */
const round = (value) => Number(value.toFixed(1));

/**
 * An answer's status, headers and body, for people.
 *
 * @param {Awaited<ReturnType<typeof import('./request.mjs').preview>>} preview
 */
export function answerView({ answer, milliseconds, text, bytes, whole }) {
  const isJson = answer.headers.get('Content-Type')?.startsWith('application/json') === true;
  const shown = isJson ? indent(text) : text;
  return [
    element(
      'p',
      { className: 'status' },
      statusBadge(answer.status),
      ` ${Math.round(milliseconds)} ms to the headers · ${whole ? size(bytes) : `first ${size(bytes)}`}`,
    ),
    element(
      'details',
      {},
      element('summary', {}, 'Headers'),
      listing([...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n'), 'Headers of the answer'),
    ),
    whole
      ? undefined
      : element(
          'p',
          { className: 'cut' },
          'The answer is longer. Only its beginning was read, and is shown; download the file, or use curl, for all of it.',
        ),
    text === ''
      ? undefined
      : element(
          'div',
          { className: 'listing' },
          listing(shown, 'Body of the answer'),
          copyButton(() => text, 'the body'),
        ),
  ].filter((part) => part !== undefined);
}

/** @param {number | string} status */
export const statusBadge = (status) =>
  element('span', { className: `badge ${Number(status) < 400 ? 'good' : 'bad'}` }, String(status));
