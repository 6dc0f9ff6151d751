/**
 * Indents JSON, even if it is truncated. Values are not parsed, so numbers keep all their digits.
 */
export function indent(json: string): string {
  let depth = 0;
  return json.replace(/"(?:[^"\\]|\\.)*(?:"|$)|[{[]\s*[}\]]|[{}[\],:]|\s+/g, (token) => {
    if (/^\s/.test(token)) return '';
    if (token === '{' || token === '[') return token + line(++depth);
    if (token === '}' || token === ']') return line(--depth) + token;
    if (token === ',') return token + line(depth);
    return token === ':' ? ': ' : token;
  });
}

const line = (depth: number) => `\n${'  '.repeat(Math.max(0, depth))}`;
