import { UserError } from '../command.ts';

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @param text such as `90d`, `12h` or `30m`. @returns milliseconds. @throws UserError for anything else */
export function parseExpiry(text: string): number {
  const match = /^([1-9]\d{0,5})([mhd])$/.exec(text);
  const unit = UNITS[match?.[2] ?? ''];
  if (!match || !unit) throw new UserError(`--expires: "${text}" is not a duration such as 90d, 12h or 30m`);
  return Number(match[1]) * unit;
}
