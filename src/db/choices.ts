import { type Sql, raw, sql } from './sql.ts';

/** White space in a question's text: space, tab and no-break space. */
const SPACE = String.raw`[ \t\u00a0]`;
/**
 * A line with a choice, such as `- A. Yes`: its letter, and the rest of the line, which begins with
 * the label. The first line of a text has no choice.
 */
const CHOICE = String.raw`\n${SPACE}*(?:-${SPACE}*)?([A-Za-z])(?:${SPACE}*[.):])?${SPACE}+([^.):\n \t\u00a0][^\n]*)`;

/** SQL for an ASCII letter as a capital, whatever the collation: 32 is the bit that differs. */
const capital = (letter: Sql) => sql`chr(ascii(${letter}) & 95)`;

/**
 * SQL for the choices that a question's text lists: rows of `value`, a capital letter, and `label`.
 * A line that is repeated counts once. There are no rows unless there are at least two choices,
 * with the letters A, B, C … in the order of the lines.
 *
 * With collation C, the result is the same in every database.
 *
 * @param text an expression of type text; null has no choices
 */
const choicesOf = (text: Sql) => sql`
  select value, label
  from (
    select value, label,
      count(*) over () > 1 and bool_and(ascii(value) = ascii('A') - 1 + n) over () as are_choices
    from (
      select value, label, row_number() over (order by min(line)) as n
      from (
        select ${capital(raw('match[1]'))} as value,
          rtrim(regexp_replace(match[2], ${'\r$'}, ''), ${' \t\u00a0'}) as label, line
        from regexp_matches(${text} collate "C", ${CHOICE}, 'g')
          with ordinality matches (match, line)
      ) line
      where label <> ''
      group by value, label
    ) line
  ) line
  where are_choices`;

/** SQL for the choices of a question's text as a JSON array of objects; null if it has none. */
export const choicesJson = (text: Sql) => sql`(
  select to_json(array_agg(choice order by value)) from (${choicesOf(text)}) choice
)`;

/**
 * SQL for the labels of a question's text, as a row with an object, by their letters; null if it
 * has no choices.
 */
export const labelsOf = (text: Sql) =>
  sql`select jsonb_object_agg(value, label) as labels from (${choicesOf(text)}) choice`;

/** SQL for whether a response is a single ASCII letter, which can have a label. */
export const IS_LETTER = sql`octet_length(response) = 1
    and (ascii(response) & 95) between ascii('A') and ascii('Z')`;

/** SQL for the letter of such a response, as {@link labelsOf} has it. */
export const LETTER = capital(raw('response'));
