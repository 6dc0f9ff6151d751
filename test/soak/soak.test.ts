import { expect, test } from 'vitest';
import { soak } from './soak.ts';

/** `npm run soak` goes on for longer. */
const SECONDS = 30;

test('with everything at once, nothing is lost, mixed up or left behind', { timeout: 240_000 }, async () => {
  const { lines, problems } = await soak({ seconds: SECONDS, rows: 20_000 }, () => {});
  console.info(lines.join('\n'));
  expect(problems).toEqual([]);
});
