import { expect, test } from 'vitest';
import { soak } from './soak.ts';

test('everything at once for half a minute: nothing is lost, nothing leaks, nothing stays behind', async ({ skip }) => {
  if (process.platform !== 'linux') skip('what a process uses is read from /proc');
  const { lines, problems } = await soak({ seconds: 30, rows: 8000 }, () => {});
  process.stdout.write(`${lines.join('\n')}\n`);
  expect(problems).toEqual([]);
}, 120_000);
