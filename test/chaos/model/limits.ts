import { createHmac } from 'node:crypto';
import type { KeyLimits } from '../../../src/auth/key-limits.ts';
import { type Random, below, pick } from '../../support/random.ts';
import { METADATA_KEYS, QUESTIONS, SHORTCODES, SIZED, SURVEYS, USERIDS } from './random-data.ts';

/** At least one limit. Each list may hide everything, and may have a name that nothing has. */
export function randomLimits(random: Random): KeyLimits {
  const some = (names: readonly string[]) => [...names, 'none'].filter(() => random() < 0.6);
  const members = [
    ['surveys', () => some([...SURVEYS, ...SIZED])],
    ['shortcodes', () => some(SHORTCODES)],
    ['questions', () => some([...QUESTIONS, 'q15'])],
    ['without_questions', () => some([...QUESTIONS.slice(1, 4), 'q3'])],
    ['metadata', () => some([...METADATA_KEYS, '', 'pageid', 'phone', 'seed', 'seed_2'])],
    ['pageid', () => false],
    ['secret', () => randomSecret(random)],
  ] as const;
  const first = pick(random, members);
  const given = members.filter(
    (member) => member === first || random() < (member[0] === 'secret' ? 0.5 : 0.25),
  );
  return { v: 1, ...Object.fromEntries(given.map(([name, value]) => [name, value()])) };
}

/** The key of a pseudonym that begins with `paa`, which Danish sorts last. */
function randomSecret(random: Random): string {
  for (;;) {
    const secret = Array.from({ length: 64 }, () => below(random, 16).toString(16)).join('');
    if (USERIDS.some((userid) => pseudonymOf(userid, secret).startsWith('paa'))) return secret;
  }
}

/** The pseudonym that docs/keys.md describes. */
export const pseudonymOf = (userid: string, secret: string) =>
  `p${createHmac('sha256', Buffer.from(secret, 'hex')).update(userid).digest('hex').slice(0, 32)}`;
