/** Survey names that are special in a header, a URL, a file system, SQL or JSON. */
export const SPECIAL_NAMES = [
  ...['a\r\nX-Evil: 1', '"; filename="evil', "a'; --", '../../etc/passwd', '%0d%0a', '%2F', 'a&b=c', 'a+b #c'],
  ...[' ', '\u202eexe.csv', 'x'.repeat(2500), '漢'.repeat(800), '{"error":{}}', '$1', '__proto__', 'null'],
];
