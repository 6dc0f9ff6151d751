import { curlFor } from '../shared/curl.ts';
import { copyButton, element, listing, prose } from '../shared/dom.ts';
import { size } from '../shared/size.ts';
import type { Header, Operation } from './description.ts';
import { field } from './fields.ts';
import { type Request, download, preview } from '../shared/request.ts';
import { responsesView } from './responses.ts';
import { resultView } from './result.ts';

/** By media type. */
const EXTENSIONS: Readonly<Record<string, string>> = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' };

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
  const fileType = Object.keys(operation.responses.find(([status]) => status === '200')?.[1].content ?? {})[0];
  const isFile = fileType !== undefined && fileType !== 'application/json';

  const run = element('button', { type: 'submit', className: 'main' }, 'Send request');
  const save = element('button', { type: 'button', hidden: !isFile }, 'Download the file');
  const stop = element('button', { type: 'button', hidden: true }, 'Stop');
  const state = element('p', { role: 'status', className: 'state' });
  const output = element('div', { className: 'output' });
  const curl = listing('', `curl command for ${path}`);
  const form = element(
    'form',
    { noValidate: true, 'aria-label': `Try ${path}` },
    ...fields.map(({ row }) => row),
    element('div', { className: 'actions' }, run, save, stop),
    element(
      'details',
      { className: 'curl' },
      element('summary', {}, 'As a curl command'),
      element(
        'div',
        { className: 'listing' },
        curl,
        copyButton(() => command(), 'the curl command'),
      ),
    ),
    state,
    output,
  );

  const address = () => {
    const query = new URLSearchParams(pairs()).toString();
    return path + (query && `?${query}`);
  };
  const command = () => {
    const file = isFile ? `${path.split('/').slice(3).join('-')}.${EXTENSIONS[fileType] ?? 'xlsx'}` : undefined;
    return curlFor({ url: location.origin + path, pairs: pairs(), needsKey, file });
  };
  const showCommand = () => curl.replaceChildren(element('code', {}, command()));

  let running = new AbortController();
  /** @param work returns the final status message */
  const attempt = async (work: (request: Request) => Promise<string>) => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const report = (text: string) => signal === running.signal && (state.textContent = text);
    output.replaceChildren();
    stop.hidden = false;
    report('Waiting for the response…');
    try {
      report(await work({ url: address(), key: needsKey ? key() : '', signal }));
    } catch (error) {
      report(
        signal.aborted ? 'Stopped.' : `The request failed or its response was interrupted: ${(error as Error).message}`,
      );
    }
    if (signal === running.signal) stop.hidden = true;
  };

  form.addEventListener('input', showCommand);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void attempt(async (request) => {
      const result = await preview(request);
      output.replaceChildren(...resultView(result));
      return `Received status ${result.response.status}.`;
    });
  });
  save.addEventListener('click', () => {
    void attempt(async (request) => {
      const {
        response,
        name,
        bytes = 0,
        text,
      } = await download(request, (read) => (state.textContent = `${size(read)}…`));
      return name ? `Saved ${size(bytes)} as ${name}.` : `Not saved: status ${response.status}. ${text}`;
    });
  });
  stop.addEventListener('click', () => running.abort());
  showCommand();

  return element(
    'article',
    { id, 'aria-labelledby': `${id}-title` },
    element('h3', { id: `${id}-title` }, summary),
    element(
      'p',
      { className: 'address' },
      element('span', { className: 'badge method' }, 'GET'),
      ' ',
      element('code', {}, path),
    ),
    element('p', {}, ...prose(description), needsKey ? '' : ' No key needed.'),
    form,
    responsesView(operation, common),
  );
}
