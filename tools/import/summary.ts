import type { Counts } from './counts.ts';
import type { ImportSummary } from './import-files.ts';

/** What an import did, in lines for the person at the terminal. */
export function inWords({ isNewAccount, forms, responses }: ImportSummary, email: string): string {
  const isNothingNew = !isNewAccount && [forms, responses].every((counts) => counts.new + counts.changed === 0);
  const lines = [
    `${isNewAccount ? 'new account' : 'account'} ${email}`,
    countsInWords('form version', forms),
    countsInWords('response', responses),
    ...(isNothingNew ? ['nothing changed: all of it was there already'] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** 32286 → 32,286 */
function n(count: number): string {
  return count.toLocaleString('en-US');
}

function countsInWords(name: string, counts: Counts): string {
  const total = counts.new + counts.changed + counts.unchanged;
  const parts = `${n(counts.new)} new, ${n(counts.changed)} changed, ${n(counts.unchanged)} unchanged`;
  return `${n(total)} ${name}${total === 1 ? '' : 's'}: ${parts}`;
}
