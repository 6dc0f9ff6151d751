/**
 * The request as a curl command for a POSIX shell. It contains no key, which would stay in the shell's history.
 *
 * @param {object} request
 * @param {string} request.url without the query
 * @param {[name: string, value: string][]} request.pairs of the query
 * @param {boolean} request.needsKey
 * @param {string | undefined} request.file name of the file to save the response to
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
