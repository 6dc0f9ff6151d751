import { element } from '../shared/dom.mjs';

/** @param {number} value */
const pad = (value) => String(value).padStart(2, '0');
/** The value of a date field, in the reader's zone. @param {Date} date */
const dayOf = (date) => `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;

/**
 * A field for the first or the last day of a range, in the reader's zone. An instant within a day, as in a link from another zone, is
 * shown with its time.
 *
 * @param {string} id
 * @param {string} label
 * @param {string | null} instant ISO 8601; anything else is left out
 * @param {boolean} isEnd whether the instant is the midnight after the day
 * @returns {{ row: HTMLElement, instant: () => string }} instant: empty if none is entered
 */
export function dateField(id, label, instant, isEnd) {
  const input = element('input', { id, type: 'date' });
  const shifted = (/** @type {Date} */ date, /** @type {number} */ days) => {
    if (isEnd) date.setDate(date.getDate() + days);
    return date;
  };
  const date = new Date(instant ?? '');
  if (!Number.isNaN(date.getTime())) {
    const isMidnight = new Date(`${dayOf(date)}T00:00`).getTime() === date.getTime();
    if (!isMidnight) Object.assign(input, { type: 'datetime-local', step: 'any' });
    input.value = isMidnight ? dayOf(shifted(date, -1)) : `${dayOf(date)}T${date.toTimeString().slice(0, 8)}`;
  }
  const initial = input.value;
  return {
    row: element('p', { className: 'field' }, element('label', { htmlFor: id }, label), input),
    instant() {
      if (input.value === '' || input.value === initial) return input.value && (instant ?? '');
      return input.type === 'date'
        ? shifted(new Date(`${input.value}T00:00`), 1).toISOString()
        : new Date(input.value).toISOString();
    },
  };
}
