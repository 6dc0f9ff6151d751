/*
 * What the page splits answers by, as in its URL: `form`, `metadata/<key>`, `arm/<name>` or
 * `question/<shortcode>/<question_ref>`, each part percent-encoded. The name of a question's column
 * would depend on the selection.
 */

interface Named {
  readonly shortcode: string;
  readonly question_ref: string;
}

const write = (...parts: readonly string[]) => parts.map(encodeURIComponent).join('/');

/** How links name a question. */
export const questionName = ({ shortcode, question_ref }: Named): string =>
  write('question', shortcode, question_ref);

export const BY_FORM = 'form';
export const byMetadata = (key: string): string => write('metadata', key);
export const byArm = (arm: string): string => write('arm', arm);

/** Whether a text names a treatment arm that answers can be split by. */
export const isArm = (name: string): boolean =>
  /^seed_([1-9]\d{0,5}|1000000)(_([1-9]|10))?$/.test(name);

/** The parts of a split; undefined if it is none. */
function partsOf(split: string): readonly string[] | undefined {
  try {
    return split.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** Whether a text is a split. */
export function isSplit(text: string): boolean {
  const [kind, name = '', ...rest] = partsOf(text) ?? [];
  if (kind === 'form') return name === '' && rest.length === 0;
  if (kind === 'question') return rest.length === 1;
  return rest.length === 0 && (kind === 'metadata' || (kind === 'arm' && isArm(name)));
}

/** The kind of a split, and the name of its metadata key or arm, or the form of its question. */
export function kindOf(split: string): readonly [kind: string, name: string] {
  const [kind = '', name = ''] = partsOf(split) ?? [];
  return [kind, name];
}

/**
 * The API's parameter `by`.
 *
 * @param questions those with answers
 * @returns undefined if the API does not split by it: forms, and questions without answers
 */
export function parameterOf(
  split: string,
  questions: readonly (Named & { readonly column: string })[],
): string | undefined {
  const [kind, name] = kindOf(split);
  if (kind === 'metadata' || kind === 'arm') return `${kind}.${name}`;
  return questions.find((question) => questionName(question) === split)?.column;
}
