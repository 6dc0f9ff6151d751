import { ApiError, explain } from './api.mjs';
import { element } from '../shared/dom.mjs';
import { page } from './texts.mjs';

/**
 * Shows the result of a request: until it arrives, that it is loading; after a failure, what to do.
 *
 * @template T
 * @param {() => Promise<T>} request
 * @param {(value: T) => (Node | string | undefined)[]} render
 * @param {AbortSignal} signal
 * @param {() => string} done the status after loading
 * @returns {{ node: HTMLElement, reload: () => Promise<void> }} reload: the old content stays until the new one arrives
 */
export function loaded(request, render, signal, done = () => '') {
  const state = element('p', { className: 'state', role: 'status' });
  const retry = element('button', { type: 'button', hidden: true }, page.retry);
  const content = element('div', {});
  const node = element('div', { tabIndex: -1 }, state, retry, content);

  async function reload() {
    state.textContent = page.loading;
    content.setAttribute('aria-busy', 'true');
    retry.hidden = true;
    let value;
    try {
      value = await request();
      signal.throwIfAborted();
    } catch (error) {
      if (signal.aborted) return;
      state.textContent = explain(error);
      retry.hidden = error instanceof ApiError && error.code === 'no_responses';
      return;
    } finally {
      content.removeAttribute('aria-busy');
    }
    content.replaceChildren(...render(value).filter((child) => child !== undefined));
    state.textContent = done();
  }
  retry.addEventListener('click', () => {
    node.focus(); // the button disappears
    void reload();
  });
  void reload();
  return { node, reload };
}
