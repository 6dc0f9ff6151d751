import { headers as describedHeaders } from '../../../src/openapi/headers.ts';
import type { Account } from '../model/account.ts';
import type { Received } from '../requests/send.ts';

/**
 * Internals that no error or header may contain: stack traces, error classes, SQL, table names,
 * addresses, keys, hashes.
 */
const INTERNAL = new RegExp(
  [
    String.raw`\n\s+at |\.[jt]s:\d|file:/|node_modules|(?:Type|Range|Reference|Syntax|Neon\w*|Database|Zod)Error`,
    String.raw`\bselect\s|\bfrom (?:surveys|responses|users|api_keys)\b|api_keys|survey_export_worker|neon|sqlstate`,
    String.raw`postgres(?:ql)?:|127\.0\.0\.1|sresl?_\w{20}|\b[0-9a-f]{64}\b`,
  ].join('|'),
  'i',
);

/**
 * All headers that the service, workerd and the local asset router send. No request may cause
 * others.
 */
const HEADERS = new Set([
  ...Object.keys(describedHeaders).map((name) => name.toLowerCase()),
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-max-age',
  'allow',
  'connection',
  'cf-cache-status',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'location',
  'referrer-policy',
  'transfer-encoding',
]);

const MARKER_OR_UUID =
  /mk[0-9a-f]{32}km|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** Everything in a response that its account must not see, whatever the model expects. */
export function leaksIn(
  account: Account | undefined,
  accounts: readonly Account[],
  { status, headers, bytes }: Pick<Received, 'status' | 'headers' | 'bytes'>,
): string[] {
  const [text, lines] = [
    bytes.toString('latin1'),
    [...headers].map((pair) => pair.join(': ')).join('\n'),
  ];
  const others = accounts.filter((other) => other !== account);
  const foreign = new Set(
    others.flatMap(({ id, marker, data }) =>
      [id, marker].concat(data.forms.map((form) => form.id)),
    ),
  );
  // The header Link has the service's address.
  const internals = INTERNAL.exec(
    status >= 400 ? `${lines}\n${text}` : lines.replace(/^link: .*$/m, ''),
  );
  const found = new Set([
    ...(text.match(MARKER_OR_UUID) ?? []),
    ...(lines.match(MARKER_OR_UUID) ?? []),
  ]);
  const unknownHeaders = [...headers.keys()].filter((name) => !HEADERS.has(name));
  return [
    ...[...found].filter((word) => foreign.has(word)),
    ...(internals ?? []),
    ...unknownHeaders,
  ];
}
