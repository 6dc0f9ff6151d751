import { FILTERS, FILTER_NAMES, type FilterName } from '../responses/filters.ts';
import { type Range, type Selection, only } from '../responses/selection.ts';
import { parseInstant } from '../responses/timestamp.ts';
import {
  BY_TIME,
  type Order,
  type Position,
  branchOrderSql,
  orderSql,
  positionSql,
} from './order.ts';
import { filterConditions, participantId, questionLimits, relationOf } from './relation.ts';
import { type Query, Sql, type Value, join, raw, sql } from './sql.ts';

/** With more form versions, planning their branches takes longer than sorting their rows. */
const MAX_MERGED = 50;
/** With more branches, planning takes longer than walking the index past the other participants. */
const MAX_BRANCHES = 200;

/** A range without its limit. */
interface Bounds extends Omit<Range, 'limit' | 'after'> {
  readonly after?: Position | undefined;
}

/**
 * Whether a query reads each participant in a separate branch. An index holds the responses of
 * each together.
 */
const isByParticipant = ({ formVersions, userid }: Selection) =>
  formVersions.length <= MAX_MERGED && formVersions.length * (userid?.length ?? 1) <= MAX_BRANCHES;

/**
 * Splits the filters of a selection, and the questions that its key sees. Of the responses
 * `inIndex`, an index holds no others between two of them in this order. The conditions `unindexed`
 * discard some of these responses, perhaps all: a query has to walk past them.
 */
export function splitFilters(selection: Selection, { columns: [first] }: Order) {
  const { survey, formVersions, userid } = selection;
  const hasParticipants = isByParticipant(selection);
  // In the order of participants, times are in order only within a participant.
  const hasTimes = first === 'timestamp' || (hasParticipants && userid !== undefined);
  const isHeld = (name: FilterName) =>
    FILTERS[name].column === 'timestamp' ? hasTimes : name === 'userid' && hasParticipants;
  const held = FILTER_NAMES.filter(isHeld);
  const discarding = FILTER_NAMES.filter((name) => !isHeld(name));
  const { limits } = survey;
  const { questions: _, without_questions: __, ...seen } = limits ?? { v: 1 };
  return {
    inIndex: {
      survey: { ...survey, limits: limits && seen },
      formVersions,
      ...only(selection, held),
    },
    unindexed: [
      ...filterConditions({ survey, ...only(selection, discarding) }),
      ...questionLimits(limits),
    ],
  };
}

/**
 * SQL for the first `limit` responses of a range, in order.
 *
 * The responses of a few form versions are merged from one branch per form version, or, with a
 * filter by participant, one per form version and participant, since an index holds each
 * participant's responses together. Those between two boundaries are few more than the limit: one
 * scan finds them, and they are sorted.
 *
 * @param columns the columns to read, the order's and `surveyid` among them
 * @returns SQL on `form` (see relation.ts)
 */
export function rangeRows(
  selection: Selection,
  range: Bounds,
  limit: Value,
  columns: Sql,
  order: Order,
): Sql {
  const { formVersions, survey, userid } = selection;
  const { participants: batch } = range;
  // One participant can have many: in the order of time, an index has them.
  if (batch?.length === 1)
    return rangeRows(
      { ...selection, userid: batch },
      { ...range, participants: undefined },
      limit,
      columns,
      BY_TIME,
    );
  if (batch) return batchRows(selection, range, batch, limit, columns, order);

  const stored = raw(participantId(survey));
  const participants = isByParticipant(selection)
    ? userid?.map((one) => sql`${stored} = ${one}`)
    : undefined;
  // For 20 form versions, to scan and sort takes two thirds of the time of planning and merging
  // branches.
  if (range.upTo && !participants)
    return sql`
      select ${columns} from ${relationOfRange(selection, range, order).all()}
      order by ${orderSql(order)} limit ${limit}`;
  if (formVersions.length === 0 || formVersions.length > MAX_MERGED || userid?.length === 0)
    return sortedRows(selection, range, limit, columns, order);

  const responses = relationOfRange(
    participants ? { ...selection, userid: undefined } : selection,
    range,
    order,
  );
  const branches = formVersions.flatMap(({ id }) => {
    // With an id, Postgres can estimate the number of its responses.
    const form = sql`${id}`;
    const isThere = sql`exists (select from form where id = ${form})`;
    const wheres = participants?.map((participant) => [isThere, participant]) ?? [[isThere]];
    return wheres.map(
      (one) =>
        sql`(select ${columns} from ${responses.to(form, ...one)} order by ${branchOrderSql(order)} limit ${limit})`,
    );
  });
  const sorted = branches.length > 1 && sql`order by ${orderSql(order)} limit ${limit}`;
  return sql`${join(branches, ' union all ')} ${sorted}`;
}

/**
 * {@link rangeRows} of a batch of participants. An index has the responses of each, which are
 * sorted: they make a page.
 */
function batchRows(
  selection: Selection,
  range: Bounds,
  participants: readonly string[],
  limit: Value,
  columns: Sql,
  order: Order,
): Sql {
  const isOne = sql`${raw(participantId(selection.survey))} = batch.id`;
  const responses = relationOfRange({ ...selection, userid: undefined }, range, order);
  return sql`
    select r.*
    from unnest(${participants}::text[]) batch (id), lateral (
      select ${columns} from ${responses.all(isOne)} offset 0
    ) r
    order by ${orderSql(order)} limit ${limit}`;
}

/**
 * {@link rangeRows} of many form versions. One plan reads those of each form version, and they are
 * sorted.
 *
 * Every form version could have as many rows to read as the range. So a bound is found first, in the
 * index. The form versions are ranked by their first rows. Of `n` rows, the form version of rank `r`
 * provides about `n / r`, both if the form versions follow each other and if they alternate. These
 * keys are read, `n log n` at most. The `n`th of them is the bound: it is the `n`th row or one after
 * it. Form versions of a rank beyond `n` have none of the rows.
 */
function sortedRows(
  selection: Selection,
  range: Bounds,
  rowLimit: Value,
  columns: Sql,
  order: Order,
): Sql {
  const limit = sql`${rowLimit}::bigint`;
  const responses = relationOfRange(selection, range, order);
  const rows = (names: Sql, most: Sql, ...where: Sql[]) =>
    sql`(select ${names} from ${responses.to(sql`form.id`, ...where)}
      order by ${branchOrderSql(order)} limit ${most})`;
  const sorted = sql`order by ${orderSql(order)} limit ${limit}`;

  const key = raw(order.columns.join(', '));
  const bound = raw(order.columns.map((name) => `bound.${name}`).join(', '));
  const operator = raw(order.direction === 'desc' ? '>=' : '<=');
  return sql`
    with ranked as materialized (
      select id, row_number() over (order by ${orderSql(order)}) as rank
      from form, lateral ${rows(sql`${key}, surveyid`, sql`1`)} r
    ), bound as materialized (
      select ${key} from ranked form, lateral ${rows(key, sql`${limit} / rank + 4`)} r
      where rank <= ${limit}
      order by ${branchOrderSql(order)} offset ${limit} - 1 limit 1
    )
    select r.* from ranked form left join bound on true, lateral (
      ${rows(columns, limit, sql`(${key}) ${operator} (${bound})`)}
      union all
      ${rows(columns, limit, sql`bound.userid is null`)}
    ) r
    where rank <= ${limit} ${sorted}`;
}

/**
 * Counts the responses of a selection, all, or those after a cursor in the given order. The query
 * reads only an index.
 */
export function countQuery(
  selection: Selection,
  after?: Range['after'],
  order: Order = BY_TIME,
): Query {
  const responses = relationOfRange(selection, { after }, order);
  const text = sql`
    with ${responses.forms}
    select coalesce(sum(count), 0)::text
    from form, lateral (select count(*) from ${responses.to(sql`form.id`)}) k`;
  return { text, width: 1 };
}

/**
 * The responses of a range of a selection: see {@link relationOf}. Conditions that others imply are
 * left out, so that an index walk in the order of time starts and ends at one position. The
 * selection starts at `since` (descending: at `until`): of that time and `after`, only the one that
 * comes later in the order is a condition. `upTo`, the position of a selected response, implies the
 * end of the selection.
 */
function relationOfRange(
  selection: Selection,
  { after, upTo }: Bounds,
  order: Order,
): ReturnType<typeof relationOf> {
  const isDescending = order.direction === 'desc';
  const isByTime = order.columns[0] === 'timestamp';
  const [first, last] = isDescending
    ? (['until', 'since'] as const)
    : (['since', 'until'] as const);
  const start = selection[first];
  const { timestamp } = after ?? {};
  const time = isByTime && typeof timestamp === 'string' ? parseInstant(timestamp) : undefined;
  const hasBoth = start !== undefined && time !== undefined;
  const startIsLater = hasBoth && (isDescending ? start <= time : start > time);
  // SQL stands for the position of a selected response, which is after the start.
  const startIsImplied = (isByTime && timestamp instanceof Sql) || (hasBoth && !startIsLater);

  const bounds = [
    ...(after && !startIsLater ? [positionSql(order, isDescending ? '<' : '>', after)] : []),
    ...(upTo ? [positionSql(order, isDescending ? '>=' : '<=', upTo)] : []),
  ];
  const { forms, to, all } = relationOf({
    ...selection,
    ...(startIsImplied && { [first]: undefined }),
    ...(isByTime && upTo && { [last]: undefined }),
  });
  return {
    forms,
    to: (form, ...conditions) => to(form, ...conditions, ...bounds),
    all: (...conditions) => all(...conditions, ...bounds),
  };
}
