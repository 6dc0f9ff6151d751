const utf8 = new TextEncoder();

/** @returns the SHA-256 of a text's UTF-8, as 64 lower-case hexadecimal digits */
export async function sha256Hex(text: string): Promise<string> {
  return hexOf(await crypto.subtle.digest('SHA-256', utf8.encode(text)));
}

export const hexOf = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
