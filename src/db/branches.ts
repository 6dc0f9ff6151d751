import type { Range, Selection } from '../responses/selection.ts';
import { parseInstant } from '../responses/timestamp.ts';
import { filterConditions } from './conditions.ts';
import { type Order, branchOrderSql, cursorSql, orderSql } from './order.ts';
import type { AddParam, Param, Walk } from './sql.ts';

/** With more form versions, planning their branches takes longer than sorting their rows. */
const MAX_MERGED = 50;
/** With more branches, planning takes longer than walking the index past the other participants. */
const MAX_BRANCHES = 200;

/** The number of the parameter that limits {@link rangeRows} and {@link boundedRows}. */
export const LIMIT_PARAM = 1;

/** The columns of a position. An index holds them all. */
export const KEY_COLUMNS = 'surveyid, timestamp, userid, question_ref';

/** Whether a query has one branch for each participant, which an index holds apart from the others. */
const isByParticipant = ({ formVersions, userids }: Selection) =>
  formVersions.length <= MAX_MERGED && formVersions.length * (userids?.length ?? 1) <= MAX_BRANCHES;

/**
 * Splits the filters of a selection. Of the responses `inIndex`, an index holds no others between two of them in this order. The
 * filters `walked` discard some of these responses, perhaps all: a query has to walk past them. Undefined if there are none.
 */
export function splitFilters(
  selection: Selection,
  { columns: [first] }: Order,
): { inIndex: Selection; walked: Omit<Selection, 'formVersions'> | undefined } {
  const { formVersions, since, until, userids, questionRefs } = selection;
  const participants = { userids };
  const times = { since, until };
  const hasParticipants = isByParticipant(selection);
  // In the order of participants, times are in order only within a participant.
  const hasTimes = first === 'timestamp' || (hasParticipants && userids !== undefined);
  const inIndex = { formVersions, ...(hasParticipants && participants), ...(hasTimes && times) };
  const walked = { ...(!hasParticipants && participants), ...(!hasTimes && times), questionRefs };
  const isWalk = Object.values(walked).some((value) => value !== undefined);
  return { inIndex, walked: isWalk ? walked : undefined };
}

/**
 * SQL for the first `range.limit` responses of a range, in order.
 *
 * The responses of a few form versions are merged from one branch per form version, or, with a filter by participant, one per
 * form version and participant, since an index holds each participant's responses together.
 *
 * @param columns the columns to read, the order's and `surveyid` among them
 * @param params receives the values; the first one has number {@link LIMIT_PARAM}
 */
export function rangeRows(selection: Selection, range: Range, columns: string, order: Order, params: Param[]): string {
  const { formVersions, userids } = selection;
  if (formVersions.length > MAX_MERGED) return sortedRows(selection, range, columns, order, params);
  const add: AddParam = (value) => `$${params.push(value)}`;
  const limit = add(range.limit);
  if (formVersions.length === 0) return `select ${columns} from responses where false limit ${limit}`;
  const byParticipant = isByParticipant(selection);
  const conditions = rangeConditions(
    byParticipant ? { ...selection, userids: undefined } : selection,
    range,
    order,
    add,
  );
  const participants = byParticipant ? userids?.map((userid) => ` and userid = ${add(userid)}`) : undefined;
  const branches = formVersions
    .map(({ id }) => [`surveyid = ${add(id)}`, ...conditions].join(' and '))
    .flatMap((form) => participants?.map((participant) => form + participant) ?? [form])
    .map(
      (where) => `(select ${columns} from responses where ${where} order by ${branchOrderSql(order)} limit ${limit})`,
    );
  if (branches.length === 1) return branches[0] as string;
  return `${branches.join('\nunion all\n')} order by ${orderSql(order)} limit ${limit}`;
}

/**
 * {@link rangeRows} of many form versions. One plan reads those of each form version, and they are sorted.
 *
 * Without `range.upTo`, every form version could have as many rows to read as the range. So a bound is found first, in the index.
 * The form versions are ranked by their first rows. Of `n` rows, the form version of rank `r` provides about `n / r`, both if the
 * form versions follow each other and if they alternate. These keys are read, `n log n` at most. The `n`th of them is the bound:
 * it is the `n`th row or one after it. Form versions of a rank beyond `n` have none of the rows.
 */
function sortedRows(selection: Selection, range: Range, columns: string, order: Order, params: Param[]): string {
  const add: AddParam = (value) => `$${params.push(value)}`;
  const limit = `${add(range.limit)}::bigint`;
  const forms = `unnest(${add(selection.formVersions.map(({ id }) => id))}::uuid[]) form (id)`;
  const conditions = rangeConditions(selection, range, order, add);
  const rows = (names: string, most: string, ...where: string[]) =>
    `(select ${names} from responses where ${['surveyid = form.id', ...conditions, ...where].join(' and ')}
      order by ${branchOrderSql(order)} limit ${most})`;
  const sorted = `order by ${orderSql(order)} limit ${limit}`;
  if (range.upTo) return `select r.* from ${forms}, lateral ${rows(columns, limit)} r ${sorted}`;

  const key = order.columns.join(', ');
  const operator = order.direction === 'desc' ? '>=' : '<=';
  return `
    with form as materialized (
      select id, row_number() over (order by ${orderSql(order)}) as rank
      from ${forms}, lateral ${rows(`${key}, surveyid`, '1')} r
    ), bound as materialized (
      select ${key} from form, lateral ${rows(key, `${limit} / rank + 4`)} r
      where rank <= ${limit}
      order by ${branchOrderSql(order)} offset ${limit} - 1 limit 1
    )
    select r.* from form left join bound on true, lateral (
      ${rows(columns, limit, `(${key}) ${operator} (${order.columns.map((name) => `bound.${name}`).join(', ')})`)}
      union all
      ${rows(columns, limit, `bound.userid is null`)}
    ) r
    where rank <= ${limit} ${sorted}`;
}

/** How many index entries a page of `limit` responses may walk: fewer than 20 ms of the database, more for a large page. */
function mostWalked(limit: number, { formVersions }: Selection): number {
  const most = 10_000 + 10 * limit;
  // The first step of sortedRows reads several times as many.
  return formVersions.length > MAX_MERGED ? Math.ceil(most / 4) : most;
}

/**
 * SQL for the rows of {@link rangeRows} that walks at most `walkLimit` index entries in order. If these do not have the rows of the
 * page, and there are as many, it returns no rows, and its condition `isCut` holds. Undefined if an index holds all filters.
 *
 * The filters are applied to the keys of a walk without them, which stops at the limit of the page or its own. Then the rows are
 * read one by one. Whether the walk has reached its limit is found by counting again, because numbering the keys would take as long
 * as reading them, and most pages are full.
 *
 * SQL does not guarantee the order of the rows. Postgres keeps it: a lateral join is a nested loop. `test/plans` holds this plan.
 */
export function boundedRows(
  selection: Selection,
  range: Range,
  order: Order,
  params: Param[],
  walkLimit = mostWalked(range.limit, selection),
): (Walk & { rows: string }) | undefined {
  const { inIndex, walked } = splitFilters(selection, order);
  if (!walked) return undefined;
  const add: AddParam = (value) => `$${params.push(value)}`;
  const limit = add(range.limit);
  // One parameter for both, so that a lower limit than requested cannot end the walk without `isCut`.
  const most = `$${params.length + 1}::bigint`;
  const keys = rangeRows(inIndex, { ...range, limit: walkLimit }, KEY_COLUMNS, order, params);
  const { formVersions, userids } = inIndex;
  const forms = `unnest(${add(formVersions.map(({ id }) => id))}::uuid[]) form (id)`;
  const participants = userids ? `, unnest(${add(userids)}::text[]) participant (id)` : '';
  const conditions = [
    'surveyid = form.id',
    ...(userids ? ['userid = participant.id'] : []),
    ...rangeConditions({ ...inIndex, userids: undefined }, range, order, add),
  ];
  // In order, so that it is the same index.
  const entries = `select from responses where ${conditions.join(' and ')} order by ${branchOrderSql(order)} limit ${most}`;
  return {
    ctes: `
      matching as materialized (
        select * from (${keys}) key where ${filterConditions(walked, add).join(' and ')} limit ${limit}
      ), walk as materialized (
        select case when (select count(*) from matching) < ${limit} then ${most} = (
          select count(*) from (
            select from ${forms}${participants}, lateral (${entries}) entry limit ${most}
          ) entry
        ) else false end as is_cut
      )`,
    isCut: '(select is_cut from walk)',
    rows: `
      select r.* from matching, lateral (
        select * from responses
        where surveyid = matching.surveyid and timestamp = matching.timestamp and userid = matching.userid
          and question_ref = matching.question_ref
        limit 1
      ) r where not (select is_cut from walk)`,
  };
}

/** SQL that counts the responses of a selection, all, or those after a cursor in the given order. It reads only an index. */
export function countSql(selection: Selection, after: Range['after'], order: Order, params: Param[]): string {
  const add: AddParam = (value) => `$${params.push(value)}`;
  const forms = add(selection.formVersions.map(({ id }) => id));
  const conditions = rangeConditions(selection, { after }, order, add);
  return `
    select coalesce(sum(count), 0) as count from unnest(${forms}::uuid[]) form (id), lateral (
      select count(*) from responses where ${['surveyid = form.id', ...conditions].join(' and ')}
    ) k`;
}

/**
 * The conditions of a range and of a selection's filters, without those that others imply, so that an index walk in the order of
 * time starts and ends at one position. The selection starts at `since` (descending: at `until`): of that time and `after`, only the
 * one that comes later in the order is a condition. `upTo`, the position of a selected response, implies the end of the selection.
 */
function rangeConditions(
  selection: Selection,
  { after, upTo }: Omit<Range, 'limit'>,
  order: Order,
  add: AddParam,
): string[] {
  const { since, until } = selection;
  const isDescending = order.direction === 'desc';
  const isByTime = order.columns[0] === 'timestamp';
  const start = isDescending ? until : since;
  const time = after && isByTime ? parseInstant(after.timestamp) : undefined;
  const hasBoth = start !== undefined && time !== undefined;
  const startIsLater = hasBoth && (isDescending ? start <= time : start > time);
  const impliesStart = hasBoth && !startIsLater;
  const impliesEnd = isByTime && upTo !== undefined;
  const [impliesSince, impliesUntil] = isDescending ? [impliesEnd, impliesStart] : [impliesStart, impliesEnd];
  const needed = { ...selection, since: impliesSince ? undefined : since, until: impliesUntil ? undefined : until };
  return [
    ...filterConditions(needed, add),
    ...(after && !startIsLater ? [cursorSql(order, isDescending ? '<' : '>', after, add)] : []),
    ...(upTo ? [cursorSql(order, isDescending ? '>=' : '<=', upTo, add)] : []),
  ];
}
