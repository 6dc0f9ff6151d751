import type { Client } from 'pg';
import { withoutFormulas } from '../../src/db/formulas.ts';
import { raw, render } from '../../src/db/sql.ts';
import { BadLine, shown } from './bad-line.ts';

/*
 * Damage that spreadsheets do to a file, and `safe=true`, which is meant for them. A value is refused if nothing else explains it:
 * because the same response is stored with a value that a spreadsheet turns into this one, or because every value of the file that
 * a spreadsheet would change looks changed, and they are too many for chance. What an undamaged file could hold is loaded.
 */

/** How spreadsheets write numbers of more than 11 digits, such as `2.00092E+15`. */
export const ROUNDED_NUMBER = /^-?\d([.,]\d+)?e[+]\d{2,}$/i;

/** What to do about a file that was saved in a spreadsheet. */
export const EXPORT_AGAIN = 'export the file again, and import it without saving it in a spreadsheet';
/** How to load it nevertheless. */
export const AS_IS = '(--as-is imports it all the same)';

/** What happened to a value, and what to do about it. Follows "so" in messages. */
export const CAUSES = {
  rounded: `a spreadsheet has probably rounded it: ${EXPORT_AGAIN} ${AS_IS}`,
  number: `a spreadsheet has probably read it as a number: ${EXPORT_AGAIN} ${AS_IS}`,
  escaped: `the file was probably exported with safe=true: export it again without safe=true, and import that file ${AS_IS}`,
};
export type Cause = keyof typeof CAUSES;

/** A value of a file, and the undamaged one. */
interface DamagedCell {
  readonly line: number;
  readonly name: string;
  readonly value: string;
  readonly original: string;
  readonly cause: Cause;
}

/**
 * SQL for what a text may have turned into, as rows of `form` and `cause`. Spreadsheets drop zeros and a plus sign before a number,
 * keep 15 of its digits (Excel replaces the others by zeros, some round), and show 12 or more digits as `2.00092E+15`.
 *
 * @param text SQL, never user input
 */
export const damagedForms = (text: string): string => `
  select form, cause
  from (select substring(case when octet_length(${text}) < 100 then ${text} end from '^[+]?\\d+$')::numeric offset 0) as number (n)
    cross join lateral (select length(n::text)) as number_length (digits)
    cross join lateral (select case when digits > 15 then 'rounded' else 'number' end) as reading (reading)
    cross join lateral (values
      (trunc(n, least(15 - digits, 0))::text, reading),
      (round(n, least(15 - digits, 0))::text, reading),
      (case when digits > 11 then trim_scale(round(n / 10::numeric ^ (digits - 1), 5)) || 'E+' || digits - 1 end, 'rounded'),
      (${render(withoutFormulas(raw(text))).text}, 'escaped')
    ) as damaged (form, cause)`;

/** SQL for the damaged cells of a row that is in a file and stored, as rows of `name`, `original`, `value` and `cause`. */
function damagedCells(names: readonly string[]): string {
  const cells = names.map((name) => `('${name}', stored.${name}::text, file.${name}::text)`);
  return `
    select name, original, value, cause
    from (values ${cells.join(', ')}) as cell (name, original, value)
      cross join lateral (${damagedForms('original')}) as damaged
    where value <> original and value = form`;
}

/** Form versions of `import_forms` that are stored with an undamaged text. */
const FORMS = `
  select line, name, value, original, cause
  from import_forms as file join surveys as stored on stored.id = file.surveyid
    cross join lateral (${damagedCells(['shortcode', 'survey_name'])}) as damaged
  order by line limit 1`;

/**
 * SQL for whether a response of the file is the stored one: it has the same id, or a damaged form of it in the same conversation
 * (`flowid`). All else in their keys is equal.
 *
 * Only ids with equal beginnings are compared, since many times can be equal. This misses ids that were rounded up, but in a file that
 * was rounded, about half of the ids were rounded down.
 */
export const IS_SAME_PARTICIPANT = `
  left(ltrim(file.userid, '+0'), 15) = left(ltrim(stored.userid, '+0'), 15)
  and (file.userid = stored.userid
    or file.flowid = stored.flowid and (octet_length(file.userid) < 16 or file.userid like '%0')
      and file.userid in (select form from (${damagedForms('stored.userid')}) as damaged))`;

const RESPONSE_COLUMNS = [
  'userid',
  'flowid',
  'parent_shortcode',
  'question_text',
  'response',
  'pageid',
  'translated_response',
];

/** SQL for whether a response of the file may have a damaged cell, which costs little. */
export const MAY_BE_DAMAGED = RESPONSE_COLUMNS.map((name) => {
  const [value, original] = [`file.${name}::text`, `stored.${name}::text`];
  const isNumber = `${value} ~ '^\\d' and (octet_length(${original}) > octet_length(${value}) or octet_length(${original}) > 15)`;
  return `(${value} <> ${original} and (${value} like '%''%' or ${isNumber}))`;
}).join(' or ');

/**
 * Responses of `import_responses` that are stored with an undamaged text or id. An id is not damaged if it is stored itself, or if
 * the file has both responses.
 */
const RESPONSES = `
  select line, name, value, original, cause
  from import_stored join import_responses as file using (line)
    join responses as stored on (stored.surveyid, stored.timestamp, stored.userid, stored.question_ref)
      = (file.surveyid, file.timestamp, import_stored.userid, file.question_ref)
    cross join lateral (${damagedCells(RESPONSE_COLUMNS)}) as damaged
  where may_be_damaged
    and (file.userid = stored.userid
      or not exists (select from responses as own where (own.surveyid, own.userid) = (file.surveyid, file.userid))
        and not exists (
          select from import_responses as other
          where (other.surveyid, other.timestamp, other.userid, other.question_ref)
            = (stored.surveyid, stored.timestamp, stored.userid, stored.question_ref)))
  order by line limit 1`;

/** @throws BadLine for a form version of `import_forms` that is stored with an undamaged text */
export async function refuseDamagedForms(client: Client): Promise<void> {
  await refuseFirst(client, FORMS);
}

/**
 * @throws BadLine for a response of `import_responses` that is stored with an undamaged text or id, or if the whole file looks
 *   damaged, and what is stored of its form versions does not
 */
export async function refuseDamagedResponses(client: Client, traces: Traces): Promise<void> {
  await refuseFirst(client, RESPONSES);
  await traces.refuse(client);
}

async function refuseFirst(client: Client, sql: string): Promise<void> {
  const { rows } = await client.query<DamagedCell>(sql);
  const [row] = rows;
  if (!row) return;
  const { line, name, value, original, cause } = row;
  throw new BadLine(line, `${name}: ${shown(value)} is stored as ${shown(original)}, so ${CAUSES[cause]}`);
}

/** Values of the same kind that all look damaged. The patterns mean the same in JavaScript and in Postgres. */
interface Trace {
  readonly columns: readonly string[];
  readonly damaged: RegExp;
  /** Values that cannot be in a damaged file. */
  readonly intact: RegExp;
  /** Follows "like every other". */
  readonly kind: string;
  readonly cause: Cause;
}

const TRACES: readonly Trace[] = [
  {
    columns: ['userid'],
    damaged: /^[1-9]\d{14}0+$/,
    intact: /^[1-9]\d{14}0*[1-9]\d*$/,
    kind: 'id of 16 or more digits in this file, it ends in zeros after 15 digits',
    cause: 'rounded',
  },
  {
    columns: ['question_text', 'response', 'pageid', 'translated_response'],
    damaged: /(^|[;\t\r\n])'["\s]*[=+\-@|%]/,
    intact: /(^\s*|[;\t\r\n]["\s]*)[=+\-@|%]/,
    kind: 'text in this file that could run as a formula, it has an apostrophe before it',
    cause: 'escaped',
  },
];

/** So many different values are no coincidence: one in ten undamaged ids of 16 digits ends in a zero. */
const ENOUGH = 6;

/** Looks for damage that shows only in a file as a whole. */
export class Traces {
  readonly #found = TRACES.map((trace) => ({
    trace,
    first: { line: 0, name: '', value: '' },
    values: new Set<string>(),
    isIntact: false,
  }));

  note(line: number, name: string, value: string): void {
    for (const found of this.#found) {
      const { trace, values } = found;
      if (found.isIntact || !trace.columns.includes(name)) continue;
      if (trace.intact.test(value)) found.isIntact = true;
      else if (values.size < ENOUGH && trace.damaged.test(value)) {
        if (values.size === 0) found.first = { line, name, value };
        values.add(value);
      }
    }
  }

  async refuse(client: Client): Promise<void> {
    for (const { trace, first, values, isIntact } of this.#found) {
      if (isIntact || values.size < ENOUGH || (await isUsual(client, trace))) continue;
      throw new BadLine(
        first.line,
        `${first.name}: ${shown(first.value)}: like every other ${trace.kind}, so ${CAUSES[trace.cause]}`,
      );
    }
  }
}

/** Whether stored values of the file's form versions look damaged as well: then it is how the platform writes them. */
async function isUsual(client: Client, { columns, damaged, intact }: Trace): Promise<boolean> {
  const stored = `(select unnest(array[${columns.join(', ')}]) as value from responses
    where surveyid in (select surveyid from import_responses)) as stored`;
  const { rows } = await client.query<{ isUsual: boolean }>(
    `select not exists (select from ${stored} where value ~ $2)
       and (select count(*) from (select distinct value from ${stored} where value ~ $1 limit ${ENOUGH}) as damaged) = ${ENOUGH} as "isUsual"`,
    [damaged.source, intact.source],
  );
  return rows[0]?.isUsual ?? false;
}
