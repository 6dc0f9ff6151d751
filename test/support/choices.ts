/** A choice that a question's text lists. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

const isSpace = (char: string | undefined) => char === ' ' || char === '\t' || char === '\u00a0';
const isMark = (char: string | undefined) => char === '.' || char === ')' || char === ':';

/**
 * The choices of a question's text, read character by character as docs/api.md describes them; null
 * if it has none.
 */
export function choicesOf(text: string): Choice[] | null {
  const found = text
    .split('\n')
    .slice(1)
    .map(choiceOf)
    .filter((choice) => choice !== undefined);
  const once = found.filter(
    (choice, i) =>
      i === found.findIndex(({ value, label }) => value === choice.value && label === choice.label),
  );

  const isInOrder = once.every(({ value }, i) => value === 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[i]);
  return once.length > 1 && isInOrder ? once : null;
}

function choiceOf(line: string): Choice | undefined {
  const chars = (line.endsWith('\r') ? line.slice(0, -1) : line).split('');
  const skipSpace = () => {
    while (isSpace(chars[0])) chars.shift();
  };
  while (isSpace(chars.at(-1))) chars.pop();
  skipSpace();
  if (chars[0] === '-') {
    chars.shift();
    skipSpace();
  }

  const letter = chars.shift() ?? '';
  if (!/^[A-Za-z]$/.test(letter)) return undefined;
  const markAt = chars.findIndex((char) => !isSpace(char));
  if (isMark(chars[markAt])) chars.splice(0, markAt + 1);
  if (!isSpace(chars[0])) return undefined;
  skipSpace();
  if (chars.length === 0 || isMark(chars[0])) return undefined;
  return { value: letter.toUpperCase(), label: chars.join('') };
}

/** The label of the choice that an answer is. */
export function labelOf(answer: string, questionText: string): string | undefined {
  if (!/^[A-Za-z]$/.test(answer)) return undefined;
  return choicesOf(questionText)?.find(({ value }) => value === answer.toUpperCase())?.label;
}
