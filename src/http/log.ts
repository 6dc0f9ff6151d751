/** Keys, their hashes (or half of one that was cut), and connection strings: none of them belongs in a log, not even where an error quotes it. */
const SECRETS = /sres_\w+|[0-9a-f]{32,}|postgres(?:ql)?:\/\/[^\s"\\]+/gi;

type Details = Readonly<Record<string, unknown>>;

/** Writes one line of JSON to the log: an event's name and what there is to know of it. */
export function logFailure(event: string, details: Details): void {
  console.error(line(event, details));
}

/** Writes a request's line: see docs/operations.md. */
export function logRequest(details: Details): void {
  console.log(line('request', details));
}

const line = (event: string, details: Details) => JSON.stringify({ event, ...details }).replaceAll(SECRETS, '…');
