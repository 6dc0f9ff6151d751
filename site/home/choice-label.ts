/**
 * A line with a choice, such as `- A. Yes`: its letter, and the rest of the line, which begins with
 * the label. The first line of a text has no choice. White space is space, tab and no-break space.
 */
const CHOICE =
  /\n[ \t\u00a0]*(?:-[ \t\u00a0]*)?([A-Za-z])(?:[ \t\u00a0]*[.):])?[ \t\u00a0]+([^.):\n \t\u00a0][^\n]*)/g;

/**
 * The label that a question's text has for a letter, as docs/api.md describes it; undefined if the
 * response is no letter, or the text has no choices.
 */
export function choiceLabel(response: string, questionText: string): string | undefined {
  if (!/^[A-Za-z]$/.test(response)) return undefined;

  const choices = new Set<string>();
  for (const [, letter = '', rest = ''] of questionText.matchAll(CHOICE)) {
    const label = rest.replace(/\r$/, '').replace(/[ \t\u00a0]+$/, '');
    if (label !== '') choices.add(letter.toUpperCase() + label);
  }

  const list = [...choices];
  const areChoices = list.length > 1 && list.every((choice, i) => choice.charCodeAt(0) === 65 + i);
  return areChoices ? list[response.toUpperCase().charCodeAt(0) - 65]?.slice(1) : undefined;
}
