/** API keys, their hashes (also truncated) and connection strings. An identifier of Cloudflare has 32 hexadecimal digits. */
const SECRETS = /sres_\w{5,}|[0-9a-f]{33,}|postgres(?:ql)?:\/\/[^\s"\\]+/gi;

/** The text with `…` in place of secrets, which must never be logged or printed, even if an error quotes them. */
export const withoutSecrets = (text: string): string => text.replaceAll(SECRETS, '…');
