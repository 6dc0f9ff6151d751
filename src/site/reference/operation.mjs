import { answerView, size } from './answer.mjs';
import { curlFor } from './curl.mjs';
import { copyButton, element, listing, prose } from './dom.mjs';
import { field } from './fields.mjs';
import { download, preview } from './request.mjs';
import { responsesView } from './responses.mjs';

/**
 * An endpoint: what it does, a form to try it out, what it answers.
 *
 * @param {import('./description.mjs').Operation} operation
 * @param {Record<string, import('./description.mjs').Header>} common headers of every answer
 * @param {() => string} key as it was entered
 */
export function operationView(operation, common, key) {
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
      element('summary', {}, 'The same with curl'),
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
    const file = isFile
      ? `${path.split('/').slice(3).join('-')}.${fileType === 'text/csv' ? 'csv' : 'ndjson'}`
      : undefined;
    return curlFor({ url: location.origin + path, pairs: pairs(), needsKey, file });
  };
  const showCommand = () => curl.replaceChildren(element('code', {}, command()));

  let running = new AbortController();
  /** @param {(request: import('./request.mjs').Request) => Promise<string>} work returns what to say at the end */
  const attempt = async (work) => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const say = (/** @type {string} */ text) => signal === running.signal && (state.textContent = text);
    output.replaceChildren();
    stop.hidden = false;
    say('Asking …');
    try {
      say(await work({ url: address(), key: needsKey ? key() : '', signal }));
    } catch (error) {
      say(
        signal.aborted
          ? 'Stopped.'
          : `The request failed, or its answer broke off: ${/** @type {Error} */ (error).message}`,
      );
    }
    if (signal === running.signal) stop.hidden = true;
  };

  form.addEventListener('input', showCommand);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void attempt(async (request) => {
      const seen = await preview(request);
      output.replaceChildren(...answerView(seen));
      return `Answered with status ${seen.answer.status}.`;
    });
  });
  save.addEventListener('click', () => {
    void attempt(async (request) => {
      const {
        answer,
        name,
        bytes = 0,
        text,
      } = await download(request, (read) => (state.textContent = `${size(read)} …`));
      return name ? `Saved ${size(bytes)} as ${name}.` : `Not saved: status ${answer.status}. ${text}`;
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
    element('p', {}, ...prose(description), needsKey ? '' : ' Needs no key.'),
    form,
    responsesView(operation, common),
  );
}
