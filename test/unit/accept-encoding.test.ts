import { expect, test } from 'vitest';
import { prefersGzip } from '../../src/http/accept-encoding.ts';

test.each([
  'gzip',
  'GZip',
  'x-gzip',
  'X-GZIP;q=0.5',
  'gzip, deflate, br, zstd',
  'br;q=1.0, gzip;q=0.8, *;q=0.1',
  'deflate,gzip;q=0.001',
  ' gzip ; q=1.000 ',
  'gzip\t;\tQ=0.5',
  '*',
  '*;q=0.5',
  'br, *;q=0.1',
  'identity;q=0, gzip',
  'identity;q=0.5, gzip;q=0.5',
  'identity, *',
  ',gzip,',
  'quoted="a", gzip',
])('%j prefers gzip', (header) => {
  expect(prefersGzip(header)).toBe(true);
});

test.each([
  '',
  ' ',
  'identity',
  'br',
  'deflate, br',
  'gzip;q=0',
  'gzip;q=0.000',
  'x-gzip;q=0',
  'gzip;q=0, *',
  '*;q=0',
  'gzipped',
  'agzip',
  'identity, gzip;q=0.9',
  '*, gzip;q=0.9', // * includes identity
  'gzip;q=2',
  'gzip;q=-1',
  'gzip;q=',
  'gzip;q=abc',
  'gzip;q=0.0001',
  'gzip;level=9',
  '"gzip"',
  'gzip deflate',
])('%j does not prefer gzip', (header) => {
  expect(prefersGzip(header)).toBe(false);
});
