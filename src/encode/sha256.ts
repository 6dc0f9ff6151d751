const utf8 = new TextEncoder();

/** @returns the SHA-256 of bytes, or of a text's UTF-8, as 64 lower-case hexadecimal digits */
export async function sha256Hex(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', typeof data === 'string' ? utf8.encode(data) : data);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
