import { element } from '../shared/dom.mjs';
import { options } from './texts.mjs';

/**
 * Radio buttons, one of which is checked.
 *
 * @param {string} name
 * @param {Readonly<Record<string, { label: string, note: string }>>} choices by value
 * @param {string | null} chosen the value that is checked; if it is none of the choices, the first one is
 */
export function radios(name, choices, chosen) {
  const [first] = Object.keys(choices);
  const checked = chosen !== null && chosen in choices ? chosen : first;
  return Object.entries(choices).map(([value, { label, note }]) =>
    element(
      'label',
      { className: 'choice' },
      element('input', { type: 'radio', name, value, checked: value === checked }),
      element('span', {}, label, ' ', element('span', { className: 'note' }, note)),
    ),
  );
}

/**
 * A list to select one value from. The first is the default, whose value is empty.
 *
 * @param {string} name one of those in {@link options}
 * @param {string | null} chosen
 */
export function select(name, chosen) {
  const { label, choices } = /** @type {{ label: string, choices: Record<string, string> }} */ (options[name]);
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
