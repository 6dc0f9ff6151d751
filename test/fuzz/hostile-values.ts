import fc from 'fast-check';
import { pgText } from '../support/arbitraries.ts';

/*
 * Raw values of query parameters. They contain none of the internals in harmless.ts, because an error message may quote them.
 */

/** Invalid escapes, escapes of invalid UTF-8, and line breaks. */
const BROKEN_ESCAPES = [
  ...['%', '%0', '%zz', '%u0000', '%00', 'a%00b', '%ff', '%c0%af', '%ed%a0%80', '%ed%b0%80', '%f4%90%80%80'],
  ...['%0d%0aX-Evil:%201', '%0aX-Evil:%201', '%e2%80%a8', '%ef%bb%bf', '%2f..%2f', '%2525', '+', '%2B', '%22', "'"],
  ...['%22;%20filename=%22evil', "'%20or%20'1'='1", "';--", '$1', '%24%7b1%7d', '%7b%22a%22:1%7d', '__proto__'],
];

const escaped = (text: string) => encodeURIComponent(text.toWellFormed());
const anyText = fc.oneof(pgText, fc.string({ unit: 'binary', maxLength: 20 })).map(escaped);
const longText = fc
  .tuple(fc.constantFrom('a', '%00', '%22', '%F0%9F%8E%89', '['), fc.integer({ min: 200, max: 40_000 }))
  .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)));

const two = (number: number) => String(number).padStart(2, '0');
const zone = fc.constantFrom('', 'Z', 'z', '+00', '+00:00', '+24:00', '-23:59', '+99', ' UTC', '\0');
/** Timestamps, valid or not. */
const anyTime = fc
  .tuple(
    fc.constantFrom('0000', '0001', '1969', '2026', '9999', '10000', '-001', ''),
    fc.nat(13).map(two),
    fc.nat(32).map(two),
    fc.constantFrom('', 'T', ' 10:00', 'T24:00:00', 'T23:59:60', 'T09:30:00', 'T09:30:00.0000009', 't09:30:00.1'),
    zone,
  )
  .map(([year, month, day, clock, offset]) => `${year}-${month}-${day}${clock}${offset}`);
/** Timestamps whose day may not exist. */
const anyDay = fc
  .tuple(fc.constantFrom(2, 4, 13), fc.integer({ min: 28, max: 32 }), fc.constantFrom('Z', '+00'))
  .map(([month, day, offset]) => `2026-${two(month)}-${day}T09:30:00${offset}`);
const time = fc.oneof(anyTime, anyDay).map(escaped);

/** Parts of page tokens with a wrong type, size or meaning. */
const part = fc.oneof(
  fc.constantFrom<unknown>('2026-03-01T00:03:43.77Z', '2026-02-30T00:00:00Z', '', 'a\0', '\ud800', null, 1e308, -0),
  fc.constantFrom<unknown>(
    {},
    [],
    { toString: 1 },
    '0001-01-01 00:00:00+00',
    '10000-01-01T00:00:00Z',
    'x'.repeat(3000),
  ),
  fc.constantFrom<unknown>('00000000-0000-4000-8000-000000000000', '00000000-0000-4000-8000-00000000000G', 'infinity'),
  fc.jsonValue(),
);
const VALID_PARTS = [1, '2026-03-01T00:03:43.77Z', 'user', 'q0', '00000000-0000-4000-8000-000000000000'];
/** Only one part is wrong. */
const nearlyToken = fc
  .oneof(
    fc.tuple(fc.nat(4), part),
    fc.tuple(fc.constant(1), fc.oneof(anyDay, anyTime)),
    fc.tuple(fc.integer({ min: 2, max: 4 }), fc.oneof(pgText, fc.constantFrom('a\0', '\ud800'))),
  )
  .map(([index, wrong]) => VALID_PARTS.map((valid, i) => (i === index ? wrong : valid)));
const tokenText = fc.oneof(
  { weight: 3, arbitrary: nearlyToken.map((parts) => JSON.stringify(parts)) },
  { weight: 2, arbitrary: nearlyToken.map((parts) => parts.slice(1, 4).map(textOf).join(',')) },
  fc.array(part, { maxLength: 6 }).map((parts) => JSON.stringify(parts)),
  fc.constantFrom('['.repeat(9000), '[1', '[1e999]', '[\\]', '{"0":1}', ',,', ',,,', '[1,"2026-03-01T00:00:00Z"'),
);
const token = tokenText.map((text) => Buffer.from(text).toString('base64url'));

const number = fc.oneof(
  fc.constantFrom('0', '-1', '1', '10000', '10001', '1e3', '0x10', '1.0', '%201', '9'.repeat(400), 'NaN', '１'),
  fc.integer().map(String),
);

const anything = fc.oneof(fc.constantFrom(...BROKEN_ESCAPES, ''), anyText, longText, time, token, number);

/** A value that is wrong or borderline for a parameter. @param name the parameter; any if omitted */
export function hostileValue(name = ''): fc.Arbitrary<string> {
  const near = new Map([
    ['after', token],
    ['since', time],
    ['until', time],
    ['pageSize', number],
  ]).get(name);
  return near ? fc.oneof({ weight: 2, arbitrary: near }, anything) : anything;
}

function textOf(json: unknown): string {
  return typeof json === 'string' ? json : JSON.stringify(json);
}
