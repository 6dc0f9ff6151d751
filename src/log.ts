/** Keys, their hashes (or half of one that was cut), and connection strings: none of them belongs in a log, not even where an error quotes it. */
const SECRETS = /sres_\w+|[0-9a-f]{32,}|postgres(?:ql)?:\/\/[^\s"\\]+/gi;

/** Writes one line of JSON to the log: an event's name and what there is to know of it. */
export function logFailure(event: string, details: Readonly<Record<string, unknown>>): void {
  console.error(JSON.stringify({ event, ...details }).replaceAll(SECRETS, '…'));
}
