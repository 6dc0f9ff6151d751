import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeCursor } from '../../src/responses/cursor.ts';
import { pgText } from '../support/arbitraries.ts';

const SURVEYID = '02c3dcc1-295a-5c79-8cfe-a43b6783a65d';
const TIMESTAMP = '2026-03-01T00:03:43.770047Z';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const current = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');

describe('a token of the older format', () => {
  test('is split at its first two commas only', () => {
    const time = fc.constantFrom(
      '2026-09-30 00:00:00',
      '2026-03-01 00:03:43.1',
      '2024-02-29 23:59:59.999999',
    );
    const withoutComma = pgText.filter((text) => !text.includes(','));
    fc.assert(
      fc.property(
        time,
        fc.constantFrom('+00', '+00:00'),
        withoutComma,
        pgText,
        (at, zone, userid, questionRef) => {
          const token = base64(`${at}${zone},${userid},${questionRef}`);
          expect(decodeCursor(token)).toEqual({
            timestamp: `${at}Z`,
            userid,
            question_ref: questionRef,
          });
        },
      ),
    );
  });

  test('can use either alphabet, with or without padding, and with spaces for plus signs', () => {
    const standard = base64('2026-09-30 00:00:00+00:00,>>>???,~~~ÿ');
    expect(standard).toMatch(/[+/].*=$/);
    const url = standard.replaceAll('+', '-').replaceAll('/', '_');
    const padded = [standard, url, standard.replaceAll('+', ' ')];
    for (const token of [...padded, ...padded.map((text) => text.replace(/=+$/, ''))])
      expect(decodeCursor(token)).toMatchObject({ userid: '>>>???', question_ref: '~~~ÿ' });
  });
});

test.each([
  ['an unknown version', current(2, TIMESTAMP, '', '', SURVEYID)],
  ['a bad surveyid', current(1, TIMESTAMP, '', '', `${SURVEYID}'`)],
  ['a number for text', current(1, TIMESTAMP, 5, '', SURVEYID)],
  ['a NUL', current(1, TIMESTAMP, '\0', '', SURVEYID)],
  ['a lone surrogate', current(1, TIMESTAMP, '', '\ud800', SURVEYID)],
  ['a timestamp without an offset', base64('2026-09-30 00:00:00,a,b')],
  ['30 February', base64('2026-02-30 00:00:00+00,a,b')],
  ['another offset', base64('2026-09-30 00:00:00+05:30,a,b')],
  ['a line feed', `${base64('2026-09-30 00:00:00+00,a,b')}\n`],
  ['an impossible length', 'abcde'],
  [
    'bytes that are not UTF-8',
    Buffer.from('2026-09-30 00:00:00+00,\xff,b', 'latin1').toString('base64'),
  ],
  ['JSON that is not a cursor', base64('[1,')],
])('%s makes no token', (_, token) => {
  expect(decodeCursor(token)).toBeUndefined();
});
