import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlFor } from '../../site/shared/curl.ts';

test.each([
  [
    'a control character, which a terminal could obey',
    '\u001b[2J\u009bm',
    'survey=%1B%5B2J%C2%9Bm',
  ],
  ['a character that reverses the text', 'a\u202eb', 'survey=a%E2%80%AEb'],
])('the curl command passes a name with %s', (_, name, argument) => {
  const pairs: [string, string][] = [['survey', name]];
  const command = curlFor({ url: 'http://127.0.0.1/', pairs, needsKey: false });
  const script = `curl() { printf '%s\\n' "$@"; }; ${command}`;
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\n')).toContain(argument);
  expect(command).not.toMatch(/[\p{Cf}]|(?!\n)\p{Cc}/u);
});
