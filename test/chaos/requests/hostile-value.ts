import { awkwardText } from '../../support/awkward-text.ts';
import { type Random, below, pick } from '../../support/random.ts';

/*
 * Raw values of query parameters. They contain none of the internals in checks/leaks.ts, because an error message may quote them.
 */

/** Invalid escapes, escapes of invalid UTF-8, and line breaks. */
const BROKEN_ESCAPES = [
  ...['%', '%0', '%zz', '%u0000', '%00', 'a%00b', '%ff', '%c0%af', '%ed%a0%80', '%ed%b0%80', '%f4%90%80%80'],
  ...['%0d%0aX-Evil:%201', '%0aX-Evil:%201', '%e2%80%a8', '%ef%bb%bf', '%2f..%2f', '%2525', '+', '%2B', '%22', "'"],
  ...['%22;%20filename=%22evil', "'%20or%20'1'='1", "';--", '$1', '%24%7b1%7d', '%7b%22a%22:1%7d', '__proto__', ''],
];

const text = (random: Random) => encodeURIComponent(awkwardText(random));

function longText(random: Random): string {
  const unit = pick(random, ['a', '%00', '%22', '%F0%9F%8E%89', '[']);
  return unit.repeat(Math.ceil((200 + below(random, 39_800)) / unit.length));
}

const two = (number: number) => String(number).padStart(2, '0');
const ZONES = ['', 'Z', 'z', '+00', '+00:00', '+24:00', '-23:59', '+99', ' UTC', '\0'];
const CLOCKS = ['', 'T', ' 10:00', 'T24:00:00', 'T23:59:60', 'T09:30:00', 'T09:30:00.0000009', 't09:30:00.1'];
const YEARS = ['0000', '0001', '1969', '2026', '2026', '9999', '10000', '-001', ''];
/** A timestamp, valid or not. */
const time = (random: Random) =>
  random() < 0.5
    ? `${pick(random, YEARS)}-${two(below(random, 14))}-${two(below(random, 33))}${pick(random, CLOCKS)}${pick(random, ZONES)}`
    : `2026-${pick(random, ['02', '04', '13'])}-${28 + below(random, 5)}T09:30:00${pick(random, ['Z', '+00'])}`;

/** Parts of page tokens with a wrong type, size or meaning. */
const PARTS: readonly unknown[] = [
  ...['2026-03-01T00:03:43.77Z', '2026-02-30T00:00:00Z', '', 'a\0', '\ud800', null, 1e308, -0, true, [[]], 0.5],
  ...[{}, [], { toString: 1 }, '0001-01-01 00:00:00+00', '10000-01-01T00:00:00Z', 'x'.repeat(3000), 'infinity'],
  ...['00000000-0000-4000-8000-000000000000', '00000000-0000-4000-8000-00000000000G'],
];
const VALID_PARTS: readonly unknown[] = [
  1,
  '2026-03-01T00:03:43.77Z',
  'user',
  'q0',
  '00000000-0000-4000-8000-000000000000',
];
const TOKENS = ['['.repeat(9000), '[1', '[1e999]', '[\\]', '{"0":1}', ',,', ',,,', '[1,"2026-03-01T00:00:00Z"'];

/** A page token, in either format, in which one part is wrong; or a text that is none. */
function token(random: Random): string {
  const index = below(random, 5);
  const wrong = index === 1 ? time(random) : pick(random, [pick(random, PARTS), awkwardText(random)]);
  const parts = VALID_PARTS.map((valid, i) => (i === index ? wrong : valid));
  const older = parts.slice(1, 4).map((part) => (typeof part === 'string' ? part : JSON.stringify(part)));
  const some = Array.from({ length: below(random, 7) }, () => pick(random, PARTS));
  const texts = [
    JSON.stringify(parts),
    JSON.stringify(parts),
    older.join(','),
    JSON.stringify(some),
    pick(random, TOKENS),
  ];
  return Buffer.from(pick(random, texts)).toString('base64url');
}

const NUMBERS = ['0', '-1', '1', '10000', '10001', '1e3', '0x10', '1.0', '%201', '9'.repeat(400), 'NaN', '１'];
const number = (random: Random) => pick(random, [pick(random, NUMBERS), String(below(random, 2 ** 32) - 2 ** 31)]);

const escapedTime = (random: Random) => encodeURIComponent(time(random));
const ANY = [(random: Random) => pick(random, BROKEN_ESCAPES), text, longText, escapedTime, token, number];
const NEAR = new Map([
  ['after', token],
  ['since', escapedTime],
  ['until', escapedTime],
  ['pageSize', number],
]);

/** A value that is wrong or borderline for a parameter. @param name the parameter; any if omitted */
export function hostileValue(random: Random, name = ''): string {
  const near = NEAR.get(name);
  return near && random() < 0.66 ? near(random) : pick(random, ANY)(random);
}
