/** Even if each has 4 bytes, the name has fewer than the 255 bytes that file systems allow. */
const MAX_CHARACTERS = 50;

/**
 * The name of a file: the survey, what the file contains, and the minute in the reader's zone.
 * Windows takes it: it has only letters, digits, `-` and `_`, is none of the reserved names, such
 * as `con`, and ends with its extension.
 *
 * @param example its last part is the extension
 */
export function fileName(
  survey: string,
  content: string,
  example: string,
  now = new Date(),
): string {
  const words = survey
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-');
  const beginning = Array.from(words).slice(0, MAX_CHARACTERS).join('');
  const name = beginning.replace(/^-|-$/g, '') || 'survey';

  const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString();
  const minute = local.slice(0, 16).replace('T', '_').replace(':', '');
  return `${name}_${content}_${minute}.${example.split('.').at(-1)}`;
}
