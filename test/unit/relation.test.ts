import { expect, test } from 'vitest';
import { filterConditions } from '../../src/db/relation.ts';
import { and, render } from '../../src/db/sql.ts';

/**
 * As they would be found for a question that nobody has: other plans or more reads would tell that
 * there is one.
 */
test('the names of hidden questions in a filter do not reach the database', () => {
  const limits = { v: 1, questions: ['q', 'phone', 'Q'], without_questions: ['phone'] } as const;
  const conditions = filterConditions({
    survey: { limits },
    question_ref: ['phone', 'q', 'other'],
  });
  const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
  expect(render(and(conditions)).params).toEqual([[uuid, 'q', uuid]]);
});
