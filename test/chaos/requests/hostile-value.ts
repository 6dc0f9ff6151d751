import { awkwardText } from '../../support/awkward-text.ts';
import { type Random, below, pick } from '../../support/random.ts';

/*
 * Raw values of query parameters. They contain none of the internals in checks/leaks.ts, because an
 * error message may quote them.
 */

/** Invalid escapes, escapes of invalid UTF-8, and line breaks. */
const BROKEN_ESCAPES = [
  '%',
  '%0',
  '%zz',
  '%u0000',
  '%00',
  'a%00b',
  '%ff',
  '%c0%af',
  '%ed%a0%80',
  '%ed%b0%80',
  '%f4%90%80%80',
  '%0d%0aX-Evil:%201',
  '%0aX-Evil:%201',
  '%e2%80%a8',
  '%ef%bb%bf',
  '%2f..%2f',
  '%2525',
  '+',
  '%2B',
  '%22',
  "'",
  '%22;%20filename=%22evil',
  "'%20or%20'1'='1",
  "';--",
  '$1',
  '%24%7b1%7d',
  '%7b%22a%22:1%7d',
  '__proto__',
  '',
];
const NUMBERS = [
  '0',
  '-1',
  '1',
  '10000',
  '10001',
  '1e3',
  '0x10',
  '1.0',
  '%201',
  '9'.repeat(400),
  'NaN',
  '１',
];
const TIMES = ['2026-03-01T09:30:00.0000009+00:00', '2026-02-28', '9999-12-31t24:00:00-23:59'];
export const SURVEYID = '00000000-0000-4000-8000-000000000000';
/** Parts of page tokens with a wrong type, size or meaning. */
const PARTS: readonly unknown[] = [
  ...[
    null,
    true,
    1e308,
    -0,
    0.5,
    [[]],
    {},
    { toString: 1 },
    '',
    'a\0',
    '\ud800',
    'x'.repeat(3000),
    'infinity',
  ],
  ...[
    '2026-02-30T00:00:00Z',
    '0001-01-01 00:00:00+00',
    '10000-01-01T00:00:00Z',
    SURVEYID,
    SURVEYID.replace('4', 'G'),
  ],
];

/**
 * A text with something else in the place of some characters, such as a timestamp that is barely
 * valid or invalid.
 */
function altered(random: Random, text: string): string {
  const at = below(random, text.length);
  const other = pick(random, [
    ...Array.from('019-+ :,Z\0'),
    '',
    '24',
    '60',
    '99',
    awkwardText(random),
  ]);
  return text.slice(0, at) + other + text.slice(at + below(random, 3));
}

const time = (random: Random) => altered(random, pick(random, TIMES));

/** A page token, in either format, in which something is wrong. */
function token(random: Random): string {
  const valid: readonly unknown[] = [1, '2026-03-01T00:03:43.77Z', 'user', 'q0', SURVEYID];
  const parts = valid.with(
    below(random, 5),
    pick(random, [...PARTS, time(random), awkwardText(random)]),
  );
  const older = parts
    .slice(1, 4)
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)));
  const texts = [
    JSON.stringify(parts),
    altered(random, JSON.stringify(valid)),
    older.join(','),
    '['.repeat(9000),
  ];
  return Buffer.from(pick(random, texts)).toString('base64url');
}

function longText(random: Random): string {
  const unit = pick(random, ['a', '%00', '%22', '%F0%9F%8E%89', '[']);
  return unit.repeat(Math.ceil((200 + below(random, 39_800)) / unit.length));
}

const escapedTime = (random: Random) => encodeURIComponent(time(random).toWellFormed());
const number = (random: Random) =>
  pick(random, [pick(random, NUMBERS), String(below(random, 2 ** 32) - 2 ** 31)]);
const text = (random: Random) => encodeURIComponent(awkwardText(random));
const ANY = [
  (random: Random) => pick(random, BROKEN_ESCAPES),
  text,
  longText,
  escapedTime,
  token,
  number,
];
const NEAR = new Map([
  ['after', token],
  ['since', escapedTime],
  ['until', escapedTime],
  ['pageSize', number],
]);

/**
 * A value that is wrong or borderline for a parameter. @param name the parameter; any if omitted
 */
export function hostileValue(random: Random, name = ''): string {
  const near = NEAR.get(name);
  return near && random() < 0.66 ? near(random) : pick(random, ANY)(random);
}
