import { expect, test } from 'vitest';
import { prefersGzip } from '../../src/http/accept-encoding.ts';

test.each([
  'GZip',
  'X-GZIP;q=0.5',
  'br;q=1.0, gzip;q=0.8, *;q=0.1',
  ' gzip\t; Q=1.000 ',
  'br, *;q=0.1',
  'identity;q=0, gzip;q=0.001',
  'identity;q=0.5, gzip;q=0.5',
  'identity, *',
  ',quoted="a",gzip,',
])('%j prefers gzip', (header) => {
  expect(prefersGzip(header)).toBe(true);
});

test.each([
  '',
  'deflate, br',
  'gzip;q=0.000, *',
  '*;q=0',
  'gzipped, agzip',
  'identity, gzip;q=0.9',
  '*, gzip;q=0.9', // * includes identity
  'gzip;q=2',
  'gzip;q=-1',
  'gzip;q=',
  'gzip;q=0.0001',
  'gzip;level=9',
  '"gzip"',
  'gzip deflate',
])('%j does not prefer gzip', (header) => {
  expect(prefersGzip(header)).toBe(false);
});
