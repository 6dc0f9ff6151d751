import { commonHeaders, loadDescription, operationsOf } from './description.mjs';
import { element, prose } from './dom.mjs';
import { operationView } from './operation.mjs';
import { headerList } from './responses.mjs';

const at = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const key = /** @type {HTMLInputElement} */ (at('key'));

at('key-shown').addEventListener('click', ({ currentTarget }) => {
  const shown = key.type === 'password';
  key.type = shown ? 'text' : 'password';
  const button = /** @type {HTMLElement} */ (currentTarget);
  button.textContent = shown ? 'Hide' : 'Show';
  button.setAttribute('aria-pressed', String(shown));
});

/** @param {import('./description.mjs').Description} description */
function show(description) {
  const { info, tags = [] } = description;
  at('intro').append(
    element('p', { className: 'version' }, `Version ${info.version} · ${info.license?.name} licence`),
    ...(info.description ?? '').split('\n\n').map((paragraph) => element('p', {}, ...prose(paragraph))),
  );
  const operations = operationsOf(description);
  const common = commonHeaders(operations);
  at('intro').append(
    element('details', {}, element('summary', {}, 'Headers that every answer has'), headerList(Object.entries(common))),
  );
  for (const { name, description: about = '' } of tags) {
    const ofTag = operations.filter(({ tag }) => tag === name);
    at('endpoints').append(
      element('h2', {}, name),
      element('p', { className: 'note' }, ...prose(about)),
      ...ofTag.map((operation) => operationView(operation, common, () => key.value.trim())),
    );
    const links = ofTag.map(({ id, summary, path }) =>
      element('li', {}, element('a', { href: `#${id}` }, element('span', {}, summary), element('code', {}, path))),
    );
    at('contents').append(element('p', {}, name), element('ul', {}, ...links));
  }
  // The place that the address names was not there when the browser looked for it.
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

try {
  show(await loadDescription());
} catch (error) {
  at('endpoints').append(
    element(
      'p',
      { className: 'cut', role: 'alert' },
      `The description cannot be shown: ${/** @type {Error} */ (error).message}`,
    ),
  );
}
