/**
 * The same request for a shell (POSIX). The key is not in it: it would stay in the shell's history.
 *
 * @param {object} request
 * @param {string} request.url without its query
 * @param {[name: string, value: string][]} request.pairs of the query
 * @param {boolean} request.needsKey
 * @param {string | undefined} request.file where to save the answer
 */
export function curlFor({ url, pairs, needsKey, file }) {
  const lines = [
    'curl -sS --fail',
    ...(needsKey ? ['-H "Authorization: Bearer $KEY"'] : []),
    ...(pairs.length > 0 ? [`-G ${quote(url)}`] : [quote(url)]),
    ...pairs.map(([name, value]) => `--data-urlencode ${quote(`${name}=${value}`)}`),
    ...(file === undefined ? [] : [`-o ${quote(file)}`]),
  ];
  return lines.join(' \\\n  ');
}

/** @param {string} text */
const quote = (text) => (/^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);
