/** API keys, their hashes (also truncated, to 33 digits or more) and connection strings. Cloudflare's ids, of 32 digits, stay readable. */
const SECRETS = /sres_\w{5,}|[0-9a-f]{33,}|postgres(?:ql)?:\/\/[^\s"\\]+/gi;

/** The text with `…` in place of secrets, which must never be logged or printed, even if an error quotes them. */
export const withoutSecrets = (text: string): string => text.replaceAll(SECRETS, '…');
