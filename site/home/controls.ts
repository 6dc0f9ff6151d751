import { html } from './dom.ts';

let fields = 0;

/** A control below its label. */
export function field(label: string, control: HTMLInputElement | HTMLSelectElement): HTMLElement {
  control.id ||= `field-${fields++}`;
  return html.p('field', html.label({ htmlFor: control.id }, label), control);
}

/** Says below a control what is wrong with its value; an empty text if nothing is. */
export function setProblem(control: HTMLInputElement, text: string): void {
  control.setAttribute('aria-invalid', String(text !== ''));
  const said =
    control.nextElementSibling ?? html.span({ className: 'note problem', role: 'alert' });
  said.textContent = text;
  control.after(said);
}

/**
 * A box or a radio button beside its label. Texts from the API do not change the direction of what
 * is around them.
 */
export function option(input: HTMLInputElement, label: string, note = ''): HTMLElement {
  input.id = `field-${fields++}`;
  input.setAttribute('aria-describedby', `${input.id}-note`);

  const name = html.label({ htmlFor: input.id }, html.bdi({}, label));
  return html.div(
    'choice',
    input,
    html.div({}, name, html.bdi({ className: 'note', id: `${input.id}-note` }, note)),
  );
}

/**
 * Radio buttons, one of which is checked.
 *
 * @param choices by value
 * @param chosen the value that is checked; if it is none of the choices, the first one is
 */
export function radios(
  name: string,
  choices: Readonly<Record<string, { readonly label: string; readonly note: string }>>,
  chosen: string | null,
): HTMLElement[] {
  const [first] = Object.keys(choices);
  const checked = chosen !== null && Object.hasOwn(choices, chosen) ? chosen : first;

  return Object.entries(choices).map(([value, { label, note }]) =>
    option(html.input({ type: 'radio', name, value, checked: value === checked }), label, note),
  );
}

/** A list to select one value from. By default, the first is selected. */
export const select = (
  name: string,
  {
    label,
    choices,
  }: { readonly label: string; readonly choices: Readonly<Record<string, string>> },
  chosen: string | null,
): HTMLElement =>
  field(
    label,
    html.select(
      { name },
      ...Object.entries(choices).map(([value, text]) =>
        html.option({ value, selected: value === chosen }, text),
      ),
    ),
  );

/** The values of a form's controls, by their names. */
export function valuesOf(
  form: HTMLFormElement,
  names: readonly string[],
): Record<string, readonly string[]> {
  const data = new FormData(form);
  return Object.fromEntries(names.map((name) => [name, data.getAll(name) as string[]]));
}
