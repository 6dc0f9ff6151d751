import { html } from '../shared/dom.ts';
import { field } from './controls.ts';

const pad = (value: number) => String(value).padStart(2, '0');
/** The value of a date field, in the reader's zone. */
const dayOf = (date: Date) => `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;

interface DateField {
  readonly row: HTMLElement;
  /** The instant, ISO 8601; empty if none is entered. */
  readonly instant: () => string;
  /** The day, YYYY-MM-DD; empty if none is entered. */
  readonly day: () => string;
  readonly setDay: (day: string) => void;
}

/**
 * A field for the first or the last day of a range, in the reader's zone. An instant that is not midnight there, such as one in a
 * link from another zone, is shown with its time.
 *
 * @param instant ISO 8601; anything else leaves the field empty
 * @param isEnd whether this is the end of the range: its instant is the midnight after the last day
 */
export function dateField(id: string, label: string, instant: string | null, isEnd: boolean): DateField {
  const input = html.input({ id, type: 'date', max: '9999-12-31' });
  /** The day of a date; for the end of the range, the day `days` later. */
  const shifted = (date: Date, days: number) => {
    date.setDate(date.getDate() + (isEnd ? days : 0));
    return dayOf(date);
  };
  const date = new Date(instant ?? '');
  if (!Number.isNaN(date.getTime())) {
    const isMidnight = new Date(`${dayOf(date)}T00:00`).getTime() === date.getTime();
    if (!isMidnight) Object.assign(input, { type: 'datetime-local', step: 'any', max: '9999-12-31T23:59' });
    input.value = isMidnight ? shifted(date, -1) : `${dayOf(date)}T${date.toTimeString().slice(0, 8)}`;
  }
  const initial = input.value;
  return {
    row: field(label, input),
    day: () => input.value.slice(0, 10),
    setDay: (day) => Object.assign(input, { type: 'date', value: day }),
    instant() {
      if (input.value === '' || input.value === initial) return input.value && (instant ?? '');
      // Days are added to noon, because some days have no midnight. A year that Date cannot represent is sent as entered: the
      // service refuses it.
      const isDay = input.type === 'date';
      const at = new Date(isDay ? `${shifted(new Date(`${input.value}T12:00`), 1)}T00:00` : input.value);
      return Number.isNaN(at.getTime()) ? input.value : at.toISOString();
    },
  };
}
