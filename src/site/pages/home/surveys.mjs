import { element } from '../shared/dom.mjs';

/**
 * The account's surveys.
 *
 * @param {import('./main.mjs').Session} session
 * @param {AbortSignal} signal
 */
export function surveysView(session, signal) {
  void session;
  void signal;
  return element('section', {});
}
