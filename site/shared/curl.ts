/** A request to show as a command. */
interface Command {
  /** Without the query. */
  readonly url: string;
  /** The parameters of the query. */
  readonly pairs: readonly [name: string, value: string][];
  readonly needsKey: boolean;
  /** The name of the file to save the response to. */
  readonly file?: string;
}

/**
 * The request as a curl command for a POSIX shell. It contains no key, which would stay in the
 * shell's history.
 */
export function curlFor({ url, pairs, needsKey, file }: Command): string {
  const lines = [
    'curl -sS --fail',
    ...(needsKey ? ['-H "Authorization: Bearer $SURVEY_EXPORT_KEY"'] : []),
    ...(pairs.length > 0 ? [`-G ${quote(url)}`] : [quote(url)]),
    ...pairs.map(([name, value]) => parameter(name, value)),
    ...(file === undefined ? [] : [`-o ${quote(file)}`]),
  ];
  return lines.join(' \\\n  ');
}

/**
 * A terminal could obey a control character, and hide what an invisible one does, so a value with
 * one is encoded.
 */
const parameter = (name: string, value: string) =>
  /[\p{Cc}\p{Cf}]/u.test(value)
    ? `-d ${quote(`${name}=${encodeURIComponent(value)}`)}`
    : `--data-urlencode ${quote(`${name}=${value}`)}`;

const quote = (text: string) =>
  /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
