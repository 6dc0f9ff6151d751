import { type Parameter, type Schema, typeOf } from './description.ts';
import { html, prose } from '../shared/dom.ts';

type TextControl = HTMLInputElement | HTMLTextAreaElement;
type Control = TextControl | HTMLSelectElement;

/** The form field of a parameter. */
interface Field {
  readonly row: HTMLElement;
  /** The parameters of the query string. */
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
  const control = controlFor(schema, [example ?? []].flat().join('\n'));
  Object.assign(control, { id, required: required === true });
  control.setAttribute('aria-describedby', `${id}-note`);

  const byDefault = schema.default === undefined ? '' : ` Default: \`${schema.default}\`.`;
  const row = html.div(
    'field',
    html.div(
      'about',
      html.label({ htmlFor: id }, name),
      required ? html.span('required', 'required') : undefined,
      html.span('type', typeOf(schema)),
    ),
    html.div(
      'value',
      control,
      html.p({ className: 'note', id: `${id}-note` }, ...prose(description + byDefault)),
    ),
  );
  const values = () =>
    (schema.type === 'array' ? control.value.split('\n') : [control.value]).filter(
      (value) => value !== '',
    );
  return { row, pairs: () => values().map((value) => [name, value]) };
}

/** @param placeholder an example */
function controlFor(schema: Schema, placeholder: string): Control {
  const choices = schema.type === 'boolean' ? [false, true] : schema.enum;
  if (choices) {
    const options = choices.map((choice) => html.option({ value: String(choice) }, String(choice)));
    return html.select({}, html.option({ value: '' }, 'not set'), ...options);
  }
  const plain = {
    autocapitalize: 'off',
    spellcheck: false,
    autocomplete: 'off',
    placeholder,
  } as const;
  if (schema.type === 'array') return html.textarea({ ...plain, rows: 1 });
  return html.input({
    ...plain,
    type: 'text',
    inputMode: schema.type === 'integer' ? 'numeric' : 'text',
  });
}
