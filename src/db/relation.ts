import type { KeyLimits } from '../auth/key-limits.ts';
import { STORED_COLUMNS } from '../responses/columns.ts';
import { FILTERS, FILTER_NAMES, type Filter, type Filters } from '../responses/filters.ts';
import type { FormVersion, Survey } from '../responses/selection.ts';
import { formatInstant } from '../responses/timestamp.ts';
import { type Sql, and, join, raw, sql } from './sql.ts';

/**
 * Makes SQL for the responses of a survey that a key sees and that pass filters. Every statement
 * checks their account, and what the limits of the key hide does not exist for it. Nothing else
 * names their table.
 *
 * @param formVersions those to read, with the shortcodes that they had when they were found; all
 * unless given
 */
export function relationOf(
  selection: Filters & {
    readonly survey: Survey;
    readonly formVersions?: readonly FormVersion[] | undefined;
  },
) {
  const { survey, formVersions } = selection;
  const isOwn = isOfSurvey(survey);
  const ids = formVersions?.map(({ id }) => id) ?? [];
  const shortcodes = formVersions?.map(({ shortcode }) => shortcode) ?? [];
  const forms = formVersions
    ? sql`
      select id, shortcode, created
      from unnest(${ids}::uuid[], ${shortcodes}::text[]) version (id, shortcode), lateral (
        select created from surveys where surveys.id = version.id and (${isOwn}) is true offset 0
      ) survey`
    : sql`select id, shortcode, created from surveys where ${isOwn}`;

  const isOfForm = sql`surveyid = any(${ids}::uuid[])`;
  // `is true` makes it a filter: Postgres then estimates the number of rows from the ids, which it
  // cannot do from the result of a query.
  const isInForm = sql`(surveyid in (select id from form)) is true`;
  const responses = survey.limits ? limitedResponses(survey.limits) : sql`responses`;
  const filters = filterConditions(selection);
  const where = (...conditions: Sql[]) =>
    sql`${responses} where ${and([...conditions, ...filters])}`;

  return {
    /**
     * The common table expression `form`: `id`, `shortcode` and `created` of the form versions. A
     * form version that left the account or the survey after it was found is not among them: a
     * statement reads it as if it had been deleted.
     */
    forms: sql`form as materialized (${forms})`,
    /**
     * What follows FROM to read the responses to a form version that meet more conditions.
     *
     * @param form SQL for its id, from `form`
     */
    to: (form: Sql, ...conditions: Sql[]) => where(sql`surveyid = ${form}`, ...conditions),
    /** Likewise, for all form versions in one scan. */
    all: (...conditions: Sql[]) => where(isOfForm, isInForm, ...conditions),
  };
}

const isAmong = (column: string, names: readonly string[] | undefined): Sql[] =>
  names ? [sql`${raw(column)} = any(${names})`] : [];

/** SQL for the conditions that a key sees a row of `surveys` of its account. */
export const formLimits = (limits: KeyLimits | null): Sql[] => [
  ...isAmong('survey_name', limits?.surveys),
  ...isAmong('shortcode', limits?.shortcodes),
];

/** SQL for whether a row of `surveys` is a form version of a survey that a key sees. */
export const isOfSurvey = ({ accountId, name, limits }: Survey): Sql =>
  and([sql`userid = ${accountId} and survey_name = ${name}`, ...formLimits(limits)]);

/** SQL for the conditions that a key sees the responses to a question. */
export const questionLimits = (limits: KeyLimits | null): Sql[] => [
  ...isAmong('question_ref', limits?.questions),
  ...(limits?.without_questions ? [sql`question_ref <> all(${limits.without_questions})`] : []),
];

/**
 * The column with a participant's id as it is stored, which indexes have. With pseudonyms, `userid`
 * is a pseudonym, and this column is for conditions alone: nothing returns it.
 */
export const participantId = ({ limits }: Pick<Survey, 'limits'>): 'userid' | 'participant' =>
  limits?.secret === undefined ? 'userid' : 'participant';

/**
 * SQL for the pseudonym of a participant: `p` and 32 hexadecimal digits of HMAC-SHA-256 (RFC 2104).
 *
 * @param secret the key, 64 hexadecimal digits
 */
export function pseudonym(id: Sql, secret: string): Sql {
  const key = Uint8Array.fromHex(secret.padEnd(2 * 64, '0'));
  const pad = (byte: number) => key.map((one) => one ^ byte).toHex();
  const hash = (padding: number, message: Sql) =>
    sql`sha256(decode(${pad(padding)}, 'hex') || ${message})`;
  const inner = hash(0x36, sql`convert_to(${id}, 'UTF8')`);

  return sql`'p' || left(encode(${hash(0x5c, inner)}, 'hex'), 32)`;
}

/**
 * The responses that a limited key sees, as it sees them. Postgres merges this subquery into the
 * query around it, which can use the indexes of `responses`.
 */
function limitedResponses(limits: KeyLimits): Sql {
  const { metadata: keys, pageid, secret } = limits;
  const visible = keys?.filter((key) => pageid !== false || key !== 'pageid');
  const members = visible?.map((key) => {
    const name = sql`${key}::text`;
    return sql`
      case when metadata ? ${name} then jsonb_build_object(${name}, metadata->${name})
        else '{}' end`;
  });
  const object = members ? join([sql`'{}'::jsonb`, ...members], ' || ') : sql`metadata - 'pageid'`;
  const masks: Record<string, Sql | undefined> = {
    userid: secret === undefined ? undefined : pseudonym(sql`userid`, secret),
    metadata:
      keys || pageid === false
        ? sql`case jsonb_typeof(metadata) when 'object' then ${object} end`
        : undefined,
    pageid: pageid === false ? sql`null::text` : undefined,
  };

  const columns = STORED_COLUMNS.map((name) =>
    masks[name] ? sql`${masks[name]} as ${raw(name)}` : raw(name),
  );
  const id = secret === undefined ? [] : [sql`userid as ${raw(participantId({ limits }))}`];
  const isVisible = questionLimits(limits);
  const where = isVisible.length > 0 && sql` where ${and(isVisible)}`;

  return sql`(select ${join([...columns, ...id])} from responses${where}) responses`;
}

/**
 * The questions of a filter, with a random name in place of each that the key does not see:
 * Postgres then plans and reads as for a question that does not exist.
 */
function knownQuestions(names: readonly string[], limits: KeyLimits | null): string[] {
  const { questions, without_questions: hidden = [] } = limits ?? { v: 1 };
  const isVisible = (name: string) => (questions?.includes(name) ?? true) && !hidden.includes(name);
  return names.map((name) => (isVisible(name) ? name : crypto.randomUUID()));
}

/**
 * SQL for filters. Column names are not qualified: they must be unambiguous in every query.
 *
 * @param filters with `userid` as {@link participantId} has it
 */
export const filterConditions = ({
  survey,
  ...filters
}: Filters & { readonly survey: Pick<Survey, 'limits'> }): Sql[] =>
  FILTER_NAMES.flatMap((name) => {
    const value = filters[name];
    if (value === undefined) return [];

    const { column, operator }: Filter = FILTERS[name];
    const stored = name === 'userid' ? participantId(survey) : column;
    const compared = raw(`${stored} ${operator ?? '='}`);
    if (typeof value === 'bigint') return sql`${compared} ${formatInstant(value)}::timestamptz`;

    const texts = name === 'question_ref' ? knownQuestions(value, survey.limits) : value;
    return sql`${compared} any(${texts})`;
  });
