import { typeOf } from './description.mjs';
import { element, prose } from '../shared/dom.mjs';

/**
 * @typedef {import('./description.mjs').Parameter} Parameter
 * @typedef {import('./description.mjs').Schema} Schema
 * @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control
 */

/**
 * Creates the form field of a parameter.
 *
 * @param {Parameter} parameter
 * @param {string} prefix of the control's id
 * @returns {{ row: HTMLElement, pairs: () => [name: string, value: string][] }} pairs: for the query string
 */
export function field({ name, required, description = '', schema: anySchema, example }, prefix) {
  const schema = /** @type {Schema} */ (anySchema);
  const id = `${prefix}-${name}`;
  const control = controlFor(schema);
  Object.assign(control, { id, required: required === true });
  control.setAttribute('aria-describedby', `${id}-note`);

  const byDefault = schema.default === undefined ? '' : ` Default: \`${schema.default}\`.`;
  const row = element(
    'div',
    { className: 'field' },
    element(
      'div',
      { className: 'about' },
      element('label', { htmlFor: id }, name),
      required ? element('span', { className: 'required' }, 'required') : undefined,
      element('span', { className: 'type' }, typeOf(schema)),
    ),
    element(
      'div',
      { className: 'value' },
      control,
      element('p', { className: 'note', id: `${id}-note` }, ...prose(description + byDefault)),
      control instanceof HTMLSelectElement || example === undefined ? undefined : exampleButton(control, name, example),
    ),
  );
  const values = () =>
    (schema.type === 'array' ? control.value.split('\n') : [control.value]).filter((value) => value !== '');
  return { row, pairs: () => values().map((value) => [name, value]) };
}

/**
 * @param {Schema} schema
 * @returns {Control}
 */
function controlFor(schema) {
  const choices = schema.type === 'boolean' ? [false, true] : schema.enum;
  if (choices) {
    const options = choices.map((choice) => element('option', { value: String(choice) }, String(choice)));
    return element('select', {}, element('option', { value: '' }, 'not set'), ...options);
  }
  const plain = { autocapitalize: 'off', spellcheck: false, autocomplete: 'off' };
  if (schema.type === 'array') return element('textarea', { ...plain, rows: 1, placeholder: 'one per line' });
  return element('input', { ...plain, type: 'text', inputMode: schema.type === 'integer' ? 'numeric' : 'text' });
}

/**
 * @param {Exclude<Control, HTMLSelectElement>} control
 * @param {string} name
 * @param {unknown} example
 */
function exampleButton(control, name, example) {
  const text = [example].flat().join('\n');
  const button = element(
    'button',
    { type: 'button', className: 'example', 'aria-label': `Example: ${text}, for ${name}` },
    'Example: ',
    element('code', {}, text),
  );
  button.addEventListener('click', () => {
    control.value = text;
    control.dispatchEvent(new Event('input', { bubbles: true }));
    control.focus();
  });
  return button;
}
