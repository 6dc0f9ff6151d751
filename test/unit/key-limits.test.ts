import { expect, test } from 'vitest';
import { parseKeyLimits } from '../../src/auth/key-limits.ts';

const ALL = {
  v: 1,
  surveys: ['a', 'é'],
  shortcodes: [],
  questions: ['q'],
  without_questions: ['p'],
  metadata: [],
  pageid: false,
  secret: '0123456789abcdef'.repeat(4),
};

test('limits are written in the order of the documentation, however they are stored', () => {
  const stored = Object.fromEntries(Object.entries(ALL).toReversed());
  expect(JSON.stringify(parseKeyLimits(stored))).toBe(JSON.stringify(ALL));
  expect(parseKeyLimits({ v: 1 })).toEqual({ v: 1 });
});

test.each<unknown>([
  null,
  { v: 2 },
  { ...ALL, v: undefined },
  { v: 1, waves: [] },
  JSON.parse('{"v": 1, "__proto__": {"surveys": []}}'),
  { v: 1, surveys: 'a' },
  { v: 1, questions: [null] },
  { v: 1, pageid: true },
  { v: 1, secret: ALL.secret.toUpperCase() },
  { v: 1, secret: `${ALL.secret}\n` },
])('unknown limits are refused: %j', (value) => {
  expect(parseKeyLimits(value)).toBeUndefined();
});
