import { ApiError, explain } from './api.ts';
import { button, html } from './dom.ts';
import { page } from './texts.ts';

export interface Loaded {
  readonly node: HTMLElement;
  /** Requests it again. The old content stays until the new one arrives. */
  readonly reload: () => Promise<void>;
}

/**
 * Shows the result of a request: until it arrives, that it is loading; after a failure, what to do.
 *
 * @param loading the status while loading
 * @param done the status after it
 * @param shape a class of what is shown at first, with the shape of what comes
 */
export function loaded<T>(
  request: () => Promise<T>,
  render: (value: T) => (Node | string | undefined)[],
  signal: AbortSignal,
  {
    loading = () => page.loading,
    done = () => '',
    shape,
  }: Partial<Record<'loading' | 'done', () => string>> & { readonly shape?: string } = {},
): Loaded {
  const state = html.p({ className: 'state', role: 'status' });
  const tryAgain = () => {
    node.focus(); // the button disappears
    void reload();
  };
  const retry = button(page.retry, tryAgain, { hidden: true });
  const content = html.div({}, shape === undefined ? undefined : html.div(`shape ${shape}`));
  const node = html.div({ tabIndex: -1 }, state, retry, content);

  async function reload(): Promise<void> {
    state.textContent = loading();
    content.setAttribute('aria-busy', 'true');
    retry.hidden = true;

    let value: T;
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
    state.textContent = ''; // takes no space when `done` looks at the page
    state.textContent = done();
  }
  void reload();
  return { node, reload };
}
