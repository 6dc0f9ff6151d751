import { curlFor } from '../shared/curl.ts';
import { button, copyable, html, prose } from '../shared/dom.ts';
import type { Header, Operation } from './description.ts';
import { field } from './fields.ts';
import { preview } from '../shared/request.ts';
import { responsesView } from './responses.ts';
import { resultView } from './result.ts';

/** Extensions of files, by media type. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
};

/**
 * Shows an endpoint: its description, a form to try it, and its responses.
 *
 * @param common headers of every response, by name
 * @param key entered by the user
 */
export function operationView(
  operation: Operation,
  common: Readonly<Record<string, Header>>,
  key: () => string,
): HTMLElement {
  const { id, path, summary, description, needsKey, parameters } = operation;
  const fields = parameters.map((parameter) => field(parameter, id));
  const pairs = () => fields.flatMap((one) => one.pairs());
  const fileType = Object.keys(
    operation.responses.find(([status]) => status === '200')?.[1].content ?? {},
  )[0];
  const isFile = fileType !== undefined && fileType !== 'application/json';

  const run = html.button({ type: 'submit', className: 'main' }, 'Send request');
  const stop = button('Stop', () => running.abort(), { hidden: true });
  const state = html.p({ role: 'status', className: 'state' });
  const output = html.div('output');
  const curl = copyable(`curl command for ${path}`);
  const form = html.form(
    { noValidate: true, 'aria-label': `Try ${path}` },
    ...fields.map(({ row }) => row),
    html.div('actions', run, stop),
    html.details('curl', html.summary({}, 'As a curl command'), curl.element),
    state,
    output,
  );

  const address = () => {
    const query = new URLSearchParams(pairs()).toString();
    return path + (query && `?${query}`);
  };
  const command = () => {
    const file = isFile
      ? `${path.split('/').slice(3).join('-')}.${EXTENSIONS[fileType] ?? 'xlsx'}`
      : undefined;
    return curlFor({ url: location.origin + path, pairs: pairs(), needsKey, file });
  };
  const showCommand = () => curl.show(command());

  let running = new AbortController();
  const send = async () => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    output.replaceChildren();
    stop.hidden = false;
    state.textContent = 'Waiting for the response…';
    let end: string;
    try {
      const result = await preview({ url: address(), key: needsKey ? key() : '', signal });
      if (signal === running.signal) output.replaceChildren(...resultView(result));
      end = `Received status ${result.response.status}.`;
    } catch (error) {
      end = signal.aborted
        ? 'Stopped.'
        : `The request failed or its response was interrupted: ${(error as Error).message}`;
    }
    if (signal !== running.signal) return;
    state.textContent = end;
    stop.hidden = true;
  };

  form.addEventListener('input', showCommand);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send();
  });
  showCommand();

  return html.article(
    { id, 'aria-labelledby': `${id}-title` },
    html.h3({ id: `${id}-title` }, summary),
    html.p('address', html.span('badge', 'GET'), ' ', html.code({}, path)),
    html.p({}, ...prose(description), needsKey ? '' : ' No key needed.'),
    form,
    responsesView(operation, common),
  );
}
