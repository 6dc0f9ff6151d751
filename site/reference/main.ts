import { type Description, commonHeaders, loadDescription, operationsOf } from './description.ts';
import { html, prose } from '../shared/dom.ts';
import { keepKey, keptKey, otherTabs } from '../shared/kept-key.ts';
import { keyField } from '../shared/key-field.ts';
import { operationView } from './operation.ts';
import { headerList } from './responses.ts';

const byId = (id: string) => document.getElementById(id) as HTMLElement;
const { row, input, key } = keyField('key-note');
const form = byId('key-form');
form.append(row);
input.value = keptKey() ?? '';
otherTabs({
  key(kept) {
    if (input.value !== '') return;
    input.value = kept;
    keepKey(kept);
  },
  forget: () => (input.value = ''),
});
// A password field belongs in a form. The form itself is not submitted.
form.addEventListener('submit', (event) => event.preventDefault());

function show(description: Description): void {
  const { info, tags = [] } = description;
  byId('intro').append(
    html.p('version', `Version ${info.version} · ${info.license?.name} licence`),
    ...(info.description ?? '').split('\n\n').map((paragraph) => html.p({}, ...prose(paragraph))),
  );
  const operations = operationsOf(description);
  const common = commonHeaders(operations);
  byId('intro').append(
    html.details(
      {},
      html.summary({}, 'Headers of every response'),
      headerList(Object.entries(common)),
    ),
  );
  for (const { name, description: about = '' } of tags) {
    const ofTag = operations.filter(({ tag }) => tag === name);
    byId('endpoints').append(
      html.h2({}, name),
      html.p('note', ...prose(about)),
      ...ofTag.map((operation) => operationView(operation, common, key)),
    );
    const links = ofTag.map(({ id, summary, path }) =>
      html.li({}, html.a({ href: `#${id}` }, html.span({}, summary), html.code({}, path))),
    );
    byId('contents').append(html.p({}, name), html.ul({}, ...links));
  }
  // The browser could not scroll to an element that did not exist yet.
  if (location.hash)
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

try {
  show(await loadDescription());
} catch (error) {
  byId('endpoints').append(
    html.p(
      { className: 'cut', role: 'alert' },
      `Cannot load the API reference: ${(error as Error).message}`,
    ),
  );
}
