/** Numbers of a file's rows. */
export interface Counts {
  new: number;
  /** Rows that were stored with other values. */
  changed: number;
  unchanged: number;
}

export interface ImportSummary {
  /** The account's address as it is stored. */
  email: string;
  isNewAccount: boolean;
  forms: Counts;
  responses: Counts;
}

/** The result of an import, in lines for the terminal. */
export function formatSummary({ email, isNewAccount, forms, responses }: ImportSummary, isDryRun: boolean): string {
  const isNothingNew = !isNewAccount && [forms, responses].every((counts) => counts.new + counts.changed === 0);
  const lines = [
    `${isNewAccount ? 'new account' : 'account'} ${email}`,
    formatCounts('form version', forms),
    formatCounts('response', responses),
    ...(isNothingNew ? ['nothing changed: all rows were already stored'] : []),
    ...(isDryRun ? ['dry run: nothing was stored'] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function formatCounts(name: string, counts: Counts): string {
  const n = (count: number): string => count.toLocaleString('en-US');
  const total = counts.new + counts.changed + counts.unchanged;
  const parts = `${n(counts.new)} new, ${n(counts.changed)} changed, ${n(counts.unchanged)} unchanged`;
  return `${n(total)} ${name}${total === 1 ? '' : 's'}: ${parts}`;
}
