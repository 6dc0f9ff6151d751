import { type Parameter, type Schema, typeOf } from './description.ts';
import { element, prose } from '../shared/dom.ts';

type TextControl = HTMLInputElement | HTMLTextAreaElement;
type Control = TextControl | HTMLSelectElement;

/** The form field of a parameter. */
interface Field {
  readonly row: HTMLElement;
  /** For the query string. */
  readonly pairs: () => [name: string, value: string][];
}

/**
 * Creates the form field of a parameter.
 *
 * @param prefix of the control's id
 */
export function field(
  { name, required, description = '', schema: anySchema, example }: Parameter,
  prefix: string,
): Field {
  const schema = anySchema as Schema;
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

function controlFor(schema: Schema): Control {
  const choices = schema.type === 'boolean' ? [false, true] : schema.enum;
  if (choices) {
    const options = choices.map((choice) => element('option', { value: String(choice) }, String(choice)));
    return element('select', {}, element('option', { value: '' }, 'not set'), ...options);
  }
  const plain = { autocapitalize: 'off', spellcheck: false, autocomplete: 'off' } as const;
  if (schema.type === 'array') return element('textarea', { ...plain, rows: 1, placeholder: 'one per line' });
  return element('input', { ...plain, type: 'text', inputMode: schema.type === 'integer' ? 'numeric' : 'text' });
}

function exampleButton(control: TextControl, name: string, example: unknown): HTMLButtonElement {
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
