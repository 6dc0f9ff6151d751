import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatInstant, parseInstant } from '../../src/responses/timestamp.ts';

const utc = (text: string) => BigInt(Date.parse(text)) * 1000n;

describe('a timestamp', () => {
  test.each([
    ['2026-03-01t09:30:00z', utc('2026-03-01T09:30:00Z')],
    ['2026-03-01 09:30:00Z', utc('2026-03-01T09:30:00Z')],
    ['2026-03-01T09:30:00 02:00', utc('2026-03-01T07:30:00Z')], // a + that was not escaped
    ['2026-03-01T09:30:00-05:30', utc('2026-03-01T15:00:00Z')],
    ['2026-03-01T09:30:00.000001Z', utc('2026-03-01T09:30:00Z') + 1n],
    ['2026-03-01T09:30:00.123456000Z', utc('2026-03-01T09:30:00.123Z') + 456n],
    ['2026-03-01T09:30:00.1234561Z', utc('2026-03-01T09:30:00.123Z') + 457n], // rounded up
    ['2016-12-31T23:59:60Z', utc('2017-01-01T00:00:00Z')],
    ['2024-02-29', utc('2024-02-29T00:00:00Z')],
    ['0099-12-31T23:59:59Z', utc('0099-12-31T23:59:59Z')],
    ['9999-12-31T23:59:59.999999Z', utc('9999-12-31T23:59:59.999Z') + 999n],
  ])('%s', (text, expected) => expect(parseInstant(text)).toBe(expected));

  test.each([
    '',
    '2026-3-1',
    '2026-02-30',
    ' 2026-03-01',
    '0000-01-01',
    '2026-03-01Z',
    '2026-03-01T09:30:00', // no offset
    '2026-03-01T24:00:00Z',
    '2026-03-01T09:30:00,5Z',
    '2026-03-01T09:30:00+0200',
    '２026-03-01',
  ])('cannot be %j', (text) => expect(parseInstant(text)).toBeUndefined());

  test('is parsed as it was formatted, to the microsecond', () => {
    const microseconds = fc.bigInt({
      min: utc('0001-01-01T00:00:00Z'),
      max: utc('9999-12-31T23:59:59Z'),
    });
    fc.assert(fc.property(microseconds, (each) => parseInstant(formatInstant(each)) === each));
  });

  test('outside the range of a response’s timestamp is clamped', () => {
    expect(formatInstant(utc('0001-01-01T00:00:00Z') - 1n)).toBe('0001-01-01T00:00:00Z');
    expect(formatInstant(utc('9999-12-31T23:59:59Z') + 10_000_000n)).toBe('10000-01-01T00:00:00Z');
  });
});
