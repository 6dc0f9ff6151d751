import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlFor } from '../../site/shared/curl.ts';

test('the curl command has no character that a terminal could obey, or that reverses the text', () => {
  const pairs: [string, string][] = [['survey', '\u001b[2J\u009bm\u202eb']];
  const command = curlFor({ url: 'http://127.0.0.1/', pairs, needsKey: false });
  expect(command).not.toMatch(/[\p{Cf}]|(?!\n)\p{Cc}/u);
  const script = `curl() { printf '%s\\n' "$@"; }; ${command}`;
  const given = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\n');
  expect(given).toContain('survey=%1B%5B2J%C2%9Bm%E2%80%AEb');
});
