/** A figure with a bound: usually a ratio of two measurements of the same run. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly bound: { readonly atLeast: number } | { readonly atMost: number };
  readonly unit?: string;
}

/** A measurement without a bound, which depends on the machine. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** Two Markdown tables: the figures and the measurements. */
export function tables(figures: readonly Figure[], measurements: readonly Measurement[]): string {
  const bounded = figures.map((figure) => {
    const [sign, bound] =
      'atLeast' in figure.bound ? ['≥', figure.bound.atLeast] : ['≤', figure.bound.atMost];
    const unit = figure.unit ?? '×';
    return [
      figure.name,
      `${number(figure.value)} ${unit}`,
      `${sign} ${bound} ${unit}`,
      holds(figure) ? 'yes' : '**no**',
    ];
  });
  const plain = measurements.map(({ name, value, unit }) => [name, `${number(value)} ${unit}`]);
  return `${table(['figure', 'measured', 'bound', 'holds'], bounded)}\n${table(['measurement', 'value'], plain)}`;
}

export function holds({ value, bound }: Figure): boolean {
  return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost;
}

function table(head: string[], rows: string[][]): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`);
  return lines.join('');
}

function number(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}
