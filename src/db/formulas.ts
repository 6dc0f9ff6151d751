import { type Sql, sql } from './sql.ts';

/**
 * Characters that begin a formula, or that a program may turn into one: their full-width and small
 * forms, and U+2212.
 */
const FORMULA = String.raw`=+\-@|%−＝＋－＠｜％﹦﹢﹣﹫﹪`;

/**
 * White space, control characters, and characters without a glyph, which a program may skip:
 * Unicode's White_Space, Cc and Default_Ignorable_Code_Point, without tabs and line breaks, and
 * without NUL, which Postgres cannot store.
 */
const INVISIBLE =
  String.raw`\u0001-\u0008\u000b\u000c\u000e-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f` +
  String.raw`\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a` +
  String.raw`\U000e0000-\U000e0fff`;

/**
 * The positions in a text where a spreadsheet could begin a cell and run it: the start, and after
 * each semicolon, tab or line break, since a spreadsheet that separates by semicolons or tabs
 * ignores quotes in the middle of a line. A comma needs no guard, because a text with a comma is
 * quoted. https://owasp.org/www-community/attacks/CSV_Injection
 */
const CELL_STARTS = `^(?=[\\t\\r\\n]|[${INVISIBLE}]*[${FORMULA}])|(?<=[;\\t\\r\\n])(?=["${INVISIBLE}]*[${FORMULA}])`;

/** SQL for a text, if `safe` with an apostrophe wherever a spreadsheet could run it as a formula. */
export const withoutFormulas = (text: Sql, safe?: boolean) =>
  safe ? sql`regexp_replace(${text}, ${CELL_STARTS}, '''', 'g')` : text;
