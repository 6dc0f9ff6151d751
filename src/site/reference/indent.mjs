/**
 * Indents JSON, complete or cut off, and leaves every value as it is: the digits of its numbers are not read.
 *
 * @param {string} json
 */
export function indent(json) {
  let depth = 0;
  return json.replace(/"(?:[^"\\]|\\.)*(?:"|$)|[{[]\s*[}\]]|[{}[\],:]|\s+/g, (token) => {
    if (/^\s/.test(token)) return '';
    if (token === '{' || token === '[') return token + line(++depth);
    if (token === '}' || token === ']') return line(--depth) + token;
    if (token === ',') return token + line(depth);
    return token === ':' ? ': ' : token;
  });
}

/** @param {number} depth */
const line = (depth) => `\n${'  '.repeat(Math.max(0, depth))}`;
