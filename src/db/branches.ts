import type { Range, Selection } from '../responses/selection.ts';
import { formatInstant, parseInstant } from '../responses/timestamp.ts';
import { type AddParam, type Order, type Param, branchOrderSql, cursorSql, orderSql } from './order.ts';

/** With more form versions, planning their branches takes longer than sorting their rows. */
const MAX_MERGED = 50;
/** With more branches, planning takes longer than walking the index past the other participants. */
const MAX_BRANCHES = 200;

/**
 * SQL for the first `range.limit` responses of a range, in order.
 *
 * The responses of a few form versions are merged from one branch per form version, or, with a filter by participant, one per
 * form version and participant, since an index holds each participant's responses together.
 *
 * @param columns the columns to read, the order's and `surveyid` among them
 * @param params receives the values, the limit first
 */
export function rangeRows(selection: Selection, range: Range, columns: string, order: Order, params: Param[]): string {
  const { formVersions } = selection;
  if (formVersions.length === 0 || formVersions.length > MAX_MERGED) {
    return sortedRows(selection, range, columns, order, params);
  }
  const add: AddParam = (value) => `$${params.push(value)}`;
  const limit = add(range.limit);
  const conditions = rangeConditions(selection, range, order, add);
  const participants = participantConditions(selection, add);
  const forms = formVersions.map(({ id }) => [`surveyid = ${add(id)}`, ...conditions].join(' and '));
  const branches = forms
    .flatMap((form) => participants.map((participant) => form + participant))
    .map(
      (where) => `(select ${columns} from responses where ${where} order by ${branchOrderSql(order)} limit ${limit})`,
    );
  const merging = branches.length > 1 ? ` order by ${orderSql(order)} limit ${limit}` : '';
  return branches.join('\nunion all\n') + merging;
}

/** One condition per participant, unless these make too many branches. */
function participantConditions({ userids, formVersions }: Selection, add: AddParam): string[] {
  if (!userids) return [''];
  if (formVersions.length * userids.length > MAX_BRANCHES) return [` and userid = any(${add(userids)})`];
  return userids.map((userid) => ` and userid = ${add(userid)}`);
}

/**
 * {@link rangeRows} of many form versions, or of none. One plan reads those of each form version, and they are sorted.
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
  const conditions = [...rangeConditions(selection, range, order, add), ...participantCondition(selection, add)];
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

/** SQL that counts the responses of a selection, all, or those after a cursor in the given order. It reads only an index. */
export function countSql(selection: Selection, after: Range['after'], order: Order, params: Param[]): string {
  const add: AddParam = (value) => `$${params.push(value)}`;
  const forms = add(selection.formVersions.map(({ id }) => id));
  const conditions = [...rangeConditions(selection, { after }, order, add), ...participantCondition(selection, add)];
  return `
    select coalesce(sum(count), 0) as count from unnest(${forms}::uuid[]) form (id), lateral (
      select count(*) from responses where ${['surveyid = form.id', ...conditions].join(' and ')}
    ) k`;
}

const participantCondition = ({ userids }: Selection, add: AddParam) =>
  userids ? [`userid = any(${add(userids)})`] : [];

/**
 * The conditions of a range and of the filters by time and question. Ordered by time, an index walk starts at one position: at
 * the later one, in the order, of `after` and the time at which the selection starts, which is `since`, or descending, `until`.
 * The later one implies the other. A page boundary implies the time at which the selection ends: it was found among the
 * responses before it.
 */
function rangeConditions(
  { since, until, questionRefs }: Selection,
  { after, upTo }: Omit<Range, 'limit'>,
  order: Order,
  add: AddParam,
): string[] {
  const isDescending = order.direction === 'desc';
  const isByTime = order.columns[0] === 'timestamp';
  const start = isDescending ? until : since;
  const time = after && isByTime ? parseInstant(after.timestamp) : undefined;
  const hasBoth = start !== undefined && time !== undefined;
  const startIsLater = hasBoth && (isDescending ? start <= time : start > time);
  const impliesStart = hasBoth && !startIsLater;
  const impliesEnd = isByTime && upTo !== undefined;
  const [impliesSince, impliesUntil] = isDescending ? [impliesEnd, impliesStart] : [impliesStart, impliesEnd];
  return [
    ...(since === undefined || impliesSince ? [] : [`timestamp >= ${add(formatInstant(since))}::timestamptz`]),
    ...(until === undefined || impliesUntil ? [] : [`timestamp < ${add(formatInstant(until))}::timestamptz`]),
    ...(after && !startIsLater ? [cursorSql(order, isDescending ? '<' : '>', after, add)] : []),
    ...(upTo ? [cursorSql(order, isDescending ? '>=' : '<=', upTo, add)] : []),
    ...(questionRefs ? [`question_ref = any(${add(questionRefs)})`] : []),
  ];
}
