import { UserError } from '../command.ts';
import { printable } from './printable.ts';

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
/** Nobody means more than a century; and the year has to keep four digits, for RFC 3339. */
const MAX_DAYS = 36_500;

/**
 * @param option whose value it is, such as `--expires`: errors name it
 * @param text such as `90d`, `12h` or `30m`; `w` and `s` are weeks and seconds; with `orZero` also `0`
 * @returns milliseconds
 * @throws UserError for anything else, and for more than 36 500 days
 */
export function parseDuration(option: string, text: string, { orZero = false } = {}): number {
  if (orZero && /^0+[smhdw]?$/.test(text)) return 0;
  const match = /^0*([1-9]\d*)([smhdw])$/.exec(text);
  const unit = UNITS[match?.[2] ?? ''];
  if (!match || !unit) {
    const examples = orZero ? '90d, 12h, 30m or 0' : '90d, 12h or 30m';
    throw new UserError(`${option}: "${printable(text)}" is not a duration such as ${examples}`);
  }
  const ms = Number(match[1]) * unit;
  if (ms > MAX_DAYS * 86_400_000)
    throw new UserError(`${option}: ${text} is too long: at most ${MAX_DAYS}d, a century`);
  return ms;
}
