import { expect, test } from 'vitest';
import { fileName } from '../../site/home/file-name.ts';

test.each([
  ['Health & Habits 2026', 'health-habits-2026'],
  ['Saúde – مسح / 健康?', 'saúde-مسح-健康'],
  ['CON', 'con'],
  ['aux.', 'aux'],
  [String.raw`..\<>:"|?*`, 'survey'],
  ['-𝕏'.repeat(99), '𝕏-'.repeat(25).slice(0, -1)],
])('the file of %j has a name that every system accepts', (survey, beginning) => {
  const name = fileName(survey, 'wide', 'responses.xlsx', new Date(2026, 10, 3, 23, 59));
  expect(name).toBe(`${beginning}_wide_2026-11-03_2359.xlsx`);
  expect(new TextEncoder().encode(name).length).toBeLessThan(255); // what file systems take
});
