import { element } from '../shared/dom.ts';
import { options } from './texts.ts';

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
    element(
      'label',
      { className: 'choice' },
      element('input', { type: 'radio', name, value, checked: value === checked }),
      element('span', {}, label, ' ', element('span', { className: 'note' }, note)),
    ),
  );
}

/** A list to select one value from. The first is the default, whose value is empty. */
export function select(name: keyof typeof options, chosen: string | null): HTMLElement {
  const { label, choices } = options[name];
  return element(
    'p',
    { className: 'field' },
    element('label', { htmlFor: name }, label),
    element(
      'select',
      { id: name, name },
      ...Object.entries(choices).map(([value, text]) =>
        element('option', { value, selected: value === (chosen ?? '') }, text),
      ),
    ),
  );
}

/** A box for a parameter, which is `true` if it is checked. */
export const checkBox = (
  name: string,
  { label, note }: { readonly label: string; readonly note: string },
  checked: boolean,
): HTMLElement =>
  element(
    'label',
    { className: 'choice' },
    element('input', { type: 'checkbox', name, value: 'true', checked }),
    element('span', {}, label, ' ', element('span', { className: 'note' }, note)),
  );
