import { html } from '../dom.ts';
import { results as texts } from '../texts.ts';
import { type AnsweredOptions, type Part, countIn, largestShare, sideBySide } from './answered.ts';
import type { Answered, Numbers } from './answers.ts';
import { histogram } from './bars.ts';
import { isAtMost, isDecimal, meanOf, sumOf } from './decimal.ts';
import { valueBars } from './values.ts';

/** The numbers among the answers as histograms, with what describes them all; beside them, what else was answered. */
export function numbersView(options: AnsweredOptions): HTMLElement {
  const { answered, parts } = options;
  const numbers = answered.numbers as Numbers;
  const isSplit = parts.some(({ group }) => group !== undefined);
  // The API counts the bins of all groups together. Those of each are counted here, from all values.
  if (isSplit && answered.other > 0) return html.p('note', texts.tooManyNumbers);

  const { bins, step } = numbers;
  const starts = bins.map(({ from }) => from);
  const ends = starts.map((from, i) => starts[i + 1] ?? sumOf(from, step ?? '0'));
  const isPoint = arePoints(answered, numbers);
  const labels = starts.map((from, i) =>
    isPoint ? texts.decimal(from) : texts.range(from, ends[i] ?? ''),
  );

  const countsOf = (part: Part) =>
    part.group === undefined ? bins.map(({ records }) => records) : binned(answered, starts, part);
  const most = largestShare(options, countsOf);
  const axis = starts.map(texts.decimal);
  const pictures = sideBySide(options, (part, all) => {
    const list = countsOf(part).map((records, i) => ({ label: labels[i] ?? '', records }));
    return html.div(
      {},
      histogram(list, all, most, axis, isPoint),
      isSplit ? undefined : quartileBox(numbers, ends.at(-1) ?? '', isPoint),
    );
  });

  return html.div(
    {},
    pictures,
    isSplit ? undefined : figures(numbers),
    valueBars(options, [], {
      rest({ records, numbers: counted }, shown) {
        const others = records - (counted?.records ?? 0);
        return others > 0 && shown.length === 0 && texts.notNumbers(others, records);
      },
      all: ({ values }) => values.filter(({ value }) => !isDecimal(value)),
    }),
  );
}

/** Whether each bin has equal numbers only, as whole numbers often have. */
const arePoints = ({ values }: Answered, { bins }: Numbers) =>
  bins.every(
    (bin) =>
      bin.records === 0 ||
      values.some(({ value, records }) => value === bin.from && records === bin.records),
  );

/** How many records of a group are in each bin. @param starts of the bins */
function binned({ values }: Answered, starts: readonly string[], part: Part): number[] {
  const counts = starts.map(() => 0);
  for (const value of values) {
    if (!isDecimal(value.value)) continue;
    const bin = starts.findLastIndex((start) => isAtMost(start, value.value));
    counts[bin] = (counts[bin] ?? 0) + countIn(part, value);
  }
  return counts;
}

/** The range of the middle half, with the median, below a histogram. */
function quartileBox({ bins, step, q1, median, q3 }: Numbers, end: string, isPoint: boolean) {
  const first = Number(bins[0]?.from);
  const middle = isPoint ? Number(step) / 2 : 0; // its bars are above the middles of their bins
  const place = (number: string) =>
    `${(100 * (Number(number) - first + middle)) / (Number(end) - first || 1)}%`;

  const node = html.div({ className: 'box', 'aria-hidden': 'true' }, html.div({}), html.div({}));
  for (const [name, number] of Object.entries({ q1, median, q3 }))
    node.style.setProperty(`--${name}`, place(number));
  return step === null ? undefined : node;
}

function figures({ records, min, q1, median, q3, max, sum }: Numbers): HTMLElement {
  const rows = texts.figures({ median, mean: meanOf(sum, records), q1, q3, min, max });
  return html.dl(
    'figures',
    ...rows.map(([name, text]) => html.div('row', html.dt('cell', name), html.dd('cell', text))),
  );
}
