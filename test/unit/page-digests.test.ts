import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { cellsOf } from '../../site/shared/csv.ts';
import { Digest, hashOf } from '../../site/home/update/digest.ts';
import { readDays } from '../../site/home/update/file.ts';

test('the page computes the digests of the test vectors in docs/sync.md', async () => {
  const docs = await readFile(new URL('../../docs/sync.md', import.meta.url), 'utf8');
  const [forms = '', responses = ''] = Array.from(docs.matchAll(/```csv\n(.*?)```/gs), ([, csv]) => csv);
  const [json = ''] = /\{"version":1,"interval".*\}/.exec(docs) ?? [];
  const versions = forms
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => cellsOf(`${line}\n`));
  const digest = new Digest();
  for (const version of versions) digest.add(hashOf(version));
  const shortcodes = new Map(versions.map(([id = '', shortcode = '']) => [id, shortcode]));
  const { days } = await readDays(new Blob([responses]), [], shortcodes, () => {});
  expect({
    version: 1,
    interval: 'day',
    forms: digest.sum(),
    digests: Array.from(days, ([day, found]) => ({
      start: `${day}T00:00:00.000Z`,
      responses: found.responses,
      digest: found.digest,
    })),
  }).toEqual(JSON.parse(json));
  expect([...days.values()].every(({ isExact }) => isExact)).toBe(true);
});
