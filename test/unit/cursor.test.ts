import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tokenWriter } from '../../src/encode/token-writer.ts';
import { objectEncoder } from '../../src/encode/json.ts';
import { TOKEN_VERSION, decodeCursor, encodeCursor, keyOf } from '../../src/responses/cursor.ts';
import { pgText } from '../support/arbitraries.ts';
import { encodeJson, rowsJson } from '../support/rows-json.ts';

const older = (text: string) => Buffer.from(text).toString('base64');
const SURVEYID = '02c3dcc1-295a-5c79-8cfe-a43b6783a65d';

const encodeTokens = objectEncoder({
  keyColumns: [],
  members: [
    ...['timestamp', 'userid', 'question_ref', 'surveyid'].map((name) => [name, 'string'] as const),
    ['token', tokenWriter(TOKEN_VERSION, [0, 1, 2, 3])],
  ],
});

describe('a token', () => {
  test('is URL-safe, decodes to its cursor, and is the same in a URL as in a page', () => {
    fc.assert(
      fc.property(pgText, pgText, fc.uuid(), (userid, questionRef, surveyid) => {
        const cursor = { timestamp: '2026-03-01T00:03:43.770047Z', userid, questionRef, surveyid };
        const token = encodeCursor(cursor);
        expect(token).toMatch(/^[\w-]+$/);
        expect(decodeCursor(token)).toEqual(cursor);
        const { data } = encodeJson(encodeTokens, rowsJson([keyOf(cursor)]));
        expect(JSON.parse(new TextDecoder().decode(data))).toMatchObject({ token });
      }),
    );
  });

  test('can be of any length', () => {
    const cursor = {
      timestamp: '2026-03-01T00:03:43.770047Z',
      userid: 'é'.repeat(2e5),
      questionRef: '',
      surveyid: SURVEYID,
    };
    expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
  });

  test.each([
    ['an unknown version', [2, '2026-03-01T00:00:00.000Z', '', '', SURVEYID]],
    ['too many values', [1, '2026-03-01T00:00:00.000Z', '', '', SURVEYID, '']],
    ['a bad timestamp', [1, 'yesterday', '', '', SURVEYID]],
    ['a bad surveyid', [1, '2026-03-01T00:00:00.000Z', '', '', `${SURVEYID}'`]],
    ['a surveyid in upper case', [1, '2026-03-01T00:00:00.000Z', '', '', SURVEYID.toUpperCase()]],
    ['a number for text', [1, '2026-03-01T00:00:00.000Z', 5, '', SURVEYID]],
    ['a NUL', [1, '2026-03-01T00:00:00.000Z', '\0', '', SURVEYID]],
    ['a lone surrogate', [1, '2026-03-01T00:00:00.000Z', '', '\ud800', SURVEYID]],
  ])('with %s is rejected', (_, parts) => {
    expect(decodeCursor(Buffer.from(JSON.stringify(parts)).toString('base64url'))).toBeUndefined();
  });
});

describe('a token of the older format', () => {
  test('is split at its first two commas only', () => {
    fc.assert(
      fc.property(
        pgText.filter((text) => !text.includes(',')),
        pgText,
        (userid, questionRef) => {
          const token = older(`2026-03-01 00:03:43.770047+00,${userid},${questionRef}`);
          expect(decodeCursor(token)).toEqual({ timestamp: '2026-03-01 00:03:43.770047Z', userid, questionRef });
        },
      ),
    );
  });

  test.each([
    '2026-09-30 00:00:00+00:00,,',
    '2026-09-30 00:00:00+00,,',
    '2026-09-30 00:00:00.1+00,a,b',
    '2024-02-29 23:59:59.999999+00,a,b',
  ])('can be %s', (text) => {
    expect(decodeCursor(older(text))).toMatchObject({ timestamp: text.split(',')[0]?.replace(/\+00(:00)?$/, 'Z') });
  });

  test.each([
    '2026-09-30 00:00:00+00:00,a',
    '2026-09-30 00:00:00,a,b',
    '2026-02-30 00:00:00+00,a,b',
    '2026-00-01 00:00:00+00,a,b',
    '2026-09-30 24:00:00+00,a,b',
    '2026-09-30 00:60:00+00,a,b',
    '2026-09-30 00:00:60+00,a,b',
    '2026-09-30 00:00:00.1234567+00,a,b',
    '2026-09-30 00:00:00+05:30,a,b',
    "2026-09-30 00:00:00+00'; drop table users; --,a,b",
    '2026-09-30 00:00:00+00,a\0,b',
  ])('cannot be %j', (text) => {
    expect(decodeCursor(older(text))).toBeUndefined();
  });

  test('can use either alphabet, with or without padding, and with spaces for plus signs', () => {
    const text = '2026-09-30 00:00:00+00:00,>>>???,~~~ÿ';
    const standard = older(text);
    expect(standard).toMatch(/[+/]/);
    const url = standard.replaceAll('+', '-').replaceAll('/', '_');
    const variants = [
      standard,
      standard.replace(/=+$/, ''),
      url,
      url.replace(/=+$/, ''),
      standard.replaceAll('+', ' '),
    ];
    for (const token of variants) expect(decodeCursor(token)).toMatchObject({ userid: '>>>???', questionRef: '~~~ÿ' });
  });
});

test.each([
  ['plain text', 'not a token'],
  ['other characters', 'a.b.c'],
  ['a line feed', `${older('2026-09-30 00:00:00+00,a,b')}\n`],
  ['too much padding', 'abc==='],
  ['an impossible length', 'abcde'],
  ['bytes that are not UTF-8', Buffer.from('2026-09-30 00:00:00+00,\xff,b', 'latin1').toString('base64')],
  ['JSON that is not a cursor', Buffer.from('[1,').toString('base64')],
])('%s is not a token', (_, token) => {
  expect(decodeCursor(token)).toBeUndefined();
});
