import { html } from '../dom.ts';
import { results as texts } from '../texts.ts';
import type { Answered, Numbers } from './answers.ts';
import { cellsOf, histogram, setShare } from './bars.ts';
import { type Drawing, type Part, countIn, sideBySide } from './parts.ts';
import { valueBars } from './values.ts';

/** What the service takes for a number. */
const isDecimal = (text: string) =>
  /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && text.replace(/\D/g, '').length <= 15;

/** Decimals are compared and divided as whole numbers of units: doubles would round them. */
const PLACES = 20;
function unitsOf(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(PLACES, '0'));
}

/** The mean of `count` numbers, cut off after 20 decimal places. */
const meanOf = (sum: string, count: number): string => `${unitsOf(sum) / BigInt(count)}e-${PLACES}`;

/** The numbers among the answers as histograms, with their quartiles; below, what else was answered. */
export function numbersView(drawing: Drawing): HTMLElement {
  const { answered, parts } = drawing;
  const numbers = answered.numbers as Numbers;
  const isSplit = parts.some(({ group }) => group !== undefined);
  // The API counts the bins of all groups together. Those of each are counted here, from all values.
  if (isSplit && answered.other > 0) return html.p('note', texts.tooManyNumbers);

  const { bins } = numbers;
  const isPoint = arePoints(answered, numbers);
  const names = bins.map(({ from }) => texts.decimal(from));
  const labels = bins.map(({ from }, i) =>
    isPoint ? texts.decimal(from) : texts.range(from, bins[i + 1]?.from, numbers.max),
  );
  const pictures = sideBySide(
    drawing,
    (part) => (isSplit ? binned(answered, bins, part) : bins.map(({ records }) => records)),
    (counts, all, most) => {
      const columns = counts.map((records, i) => ({
        cells: cellsOf({ label: labels[i] ?? '', records }, all),
        height: records / all / most,
      }));
      return histogram(columns, names, isPoint ? 'points' : '');
    },
  );

  const others = valueBars(drawing, [], {
    rest({ records, numbers: counted }, shown) {
      const count = records - (counted?.records ?? 0);
      return count > 0 && shown.length === 0 ? texts.notNumbers(count, records) : '';
    },
    all: ({ values }) => values.filter(({ value }) => !isDecimal(value)),
  });
  const own = isSplit ? [] : [quartileBox(numbers, isPoint), figures(numbers)];
  return html.div({}, pictures, ...own, others);
}

/** Whether each bin has equal numbers only, as whole numbers often have. */
const arePoints = ({ values }: Answered, { bins }: Numbers) =>
  bins.every(
    ({ from, records: count }) =>
      count === 0 || values.some(({ value, records }) => value === from && records === count),
  );

/** How many records of a group are in each bin. */
function binned({ values }: Answered, bins: Numbers['bins'], part: Part): number[] {
  const starts = bins.map(({ from }) => unitsOf(from));
  const counts = starts.map(() => 0);
  for (const value of values) {
    if (!isDecimal(value.value)) continue;
    const bin = starts.findLastIndex((start) => start <= unitsOf(value.value));
    counts[bin] = (counts[bin] ?? 0) + countIn(part, value);
  }
  return counts;
}

/** The range of the middle half, with the median, below a histogram. */
function quartileBox({ bins, step, q1, median, q3 }: Numbers, isPoint: boolean): HTMLElement {
  const width = Number(step ?? 1);
  // a single number is in the middle of its bin
  const start = Number(bins[0]?.from) - (isPoint ? width / 2 : 0);
  const box = html.div({ className: 'box', 'aria-hidden': 'true' }, html.div({}), html.div({}));
  for (const [name, number] of Object.entries({ q1, median, q3 }))
    setShare(box, (Number(number) - start) / width / bins.length, name);
  return box;
}

function figures({ records, min, q1, median, q3, max, sum }: Numbers): HTMLElement {
  const { decimal, range, mean } = texts;
  const quartiles = `${decimal(q1)}, ${decimal(q3)}`;
  const values = [
    decimal(median),
    mean(meanOf(sum, records)),
    quartiles,
    range(min, undefined, max),
  ];
  const row = (text: string, i: number) =>
    html.div('row', html.dt('cell', texts.figures[i]), html.dd('cell', text));
  return html.dl('figures', ...values.map(row));
}
