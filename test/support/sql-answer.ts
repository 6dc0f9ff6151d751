type Rows = readonly (readonly (string | null)[])[];

/** The body of an answer of SQL over HTTP. @param columns of a page without rows */
export function sqlAnswer(rows: Rows, columns = rows[0]?.length ?? 1): string {
  const fields = Array.from({ length: columns }, (_, i) => ({ name: `a "],{${i}` }));
  return JSON.stringify({ fields, command: 'SELECT', rowCount: rows.length, rows, rowAsArray: true });
}

/** The same, with every character of every cell as `\uXXXX`, or as the two-character escape where JSON has one. */
export function escapedSqlAnswer(rows: Rows): string {
  return `{"rows":${escapeAll(JSON.stringify(rows))},"rowCount":${rows.length}}`;
}

function escapeAll(json: string): string {
  const short: Record<string, string> = { '/': '\\/', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return json.replace(/"(?:[^"\\]|\\.)*"/gsu, (string) => {
    const text = JSON.parse(string) as string;
    return `"${Array.from({ length: text.length }, (_, i) => short[text.charAt(i)] ?? `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`;
  });
}
