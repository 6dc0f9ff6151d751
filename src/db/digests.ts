import type { Interval } from '../responses/timestamp.ts';
import { DIGEST_FIELDS } from '../responses/columns.ts';
import type { Filters } from '../responses/filters.ts';
import type { Survey } from '../responses/selection.ts';
import { type Database, SCAN } from './database.ts';
import { DatabaseError } from './errors.ts';
import { findParticipants } from './participants.ts';
import { relationOf } from './relation.ts';
import { type Query, type Sql, isoTimestamp, join, raw, sql } from './sql.ts';
import { FORM_DATA_COLUMNS, formDataSql } from './surveys.ts';

export type Digests = NonNullable<Awaited<ReturnType<typeof computeDigests>>>;

const MAX_INTERVALS = 20_000;

/** SQL for a text that is not null, after its length in bytes: arguments of `concat`. */
const field = (value: Sql) => sql`octet_length(${value}), ':', ${value}`;
/** Likewise, with `~` for null. */
const nullable = (value: Sql) => sql`coalesce(octet_length(${value}) || ':', '~'), ${value}`;

/**
 * SQL for the MD5 of a record, as bits: two casts of bits to numbers take less time than two of
 * hexadecimal digits.
 */
const hashOf = (fields: readonly Sql[]) => sql`('x' || md5(concat(${join(fields)})))::bit(128)`;

const FORM_HASH = hashOf(FORM_DATA_COLUMNS.map((name) => field(raw(`${name}::text`))));
const RESPONSE_HASH = hashOf(
  DIGEST_FIELDS.map(({ name, isNullable }) => (isNullable ? nullable : field)(raw(name))),
);

/** The fields of a response as texts, named like its columns. */
const RESPONSE_FIELDS = join(
  DIGEST_FIELDS.map(({ name, type, from }) => {
    const column = raw(from === 'form' ? `form.${name}` : name);
    const text = type === 'timestamptz' ? isoTimestamp(name) : sql`${column}::text`;
    return sql`${text} as ${raw(name)}`;
  }),
);

/**
 * The number of records, and the sums of the first and of the last 8 bytes of their hashes, as
 * signed numbers.
 */
const SUMS = raw(`count(*) as records,
          coalesce(sum(hash::bit(64)::bigint), 0) as first_halves,
          coalesce(sum((hash << 64)::bit(64)::bigint), 0) as last_halves`);

/**
 * The digest of the form data and those of each interval's responses, in one row: the number of
 * form versions and the sums of both halves of their hashes, the number of intervals, and a line
 * for each interval, ascending, with its start and the same three numbers. There are no lines if
 * there are more than {@link MAX_INTERVALS}. The sums are not reduced modulo 2^64.
 *
 * One statement reads everything, so that all digests are of one moment. `offset 0` keeps Postgres
 * from evaluating an expression of a subquery twice.
 */
function digestsQuery(survey: Survey, filters: Filters, interval: Interval): Query {
  const responses = relationOf({ ...filters, survey });
  // No parameter, whose change on the way would leave out lines unnoticed.
  const most = raw(String(MAX_INTERVALS));
  const text = sql`
    with ${responses.forms}
    select forms.records::text, forms.first_halves, forms.last_halves, intervals,
      case when intervals <= ${most} then lines end
    from (
      select ${SUMS}
      from (
        select ${FORM_HASH} as hash
        from (${formDataSql(survey)}) form (${raw(FORM_DATA_COLUMNS.join(', '))})
        offset 0
      ) record
    ) forms, (
      select count(*) as intervals, string_agg(
          concat_ws(' ',
            ${isoTimestamp(`start at time zone 'UTC'`)}, records, first_halves, last_halves
          ), chr(10) order by start
        ) as lines
      from (
        select start, ${SUMS}
        from (
          select start, ${RESPONSE_HASH} as hash
          from (
            select ${RESPONSE_FIELDS},
              date_trunc('${raw(interval)}', timestamp at time zone 'UTC') as start
            from form, lateral (select * from ${responses.to(sql`form.id`)} offset 0) response
            offset 0
          ) response
          offset 0
        ) record
        group by start
        order by start
        limit ${most} + 1
      ) digest
    ) digests`;

  return { text, width: 5 };
}

/**
 * Runs {@link digestsQuery}.
 *
 * @returns what `/responses/digests` returns: `forms` is the digest of the form data, and `digests`
 * ascend, without intervals that have no responses; undefined if there is no such survey
 * @throws DatabaseError `too-large` if there are too many intervals
 */
export async function computeDigests(
  db: Database,
  survey: Survey,
  filters: Filters,
  interval: Interval,
) {
  const userid = await findParticipants(db, survey, undefined, filters.userid);
  const query = digestsQuery(survey, { ...filters, userid }, interval);
  const [[versions, first, last, intervals, lines]] = (await db.rows(query, SCAN)) as [string[]];
  if (versions === '0') return undefined;
  if (Number(intervals) > MAX_INTERVALS)
    throw new DatabaseError('too-large', 'more intervals than are returned at once');

  const digests = (lines ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [start = '', records, ...sums] = line.split(' ');
      return { start, responses: Number(records), digest: digestOf(sums) };
    });

  return { version: 1, interval, forms: digestOf([first, last]), digests };
}

/** A digest, from the sums of both halves of the hashes. */
const digestOf = (sums: readonly (string | undefined)[]): string =>
  sums.map((sum = '') => BigInt.asUintN(64, BigInt(sum)).toString(16).padStart(16, '0')).join('');
