import type { Cursor } from '../responses/cursor.ts';
import type { Range, Selection } from '../responses/selection.ts';
import { type Microseconds, formatInstant, parseInstant } from '../responses/timestamp.ts';
import { type AddParam, type Order, type Param, cursorSql, orderSql } from './order.ts';

/** With more branches, planning takes longer than walking the index past the other participants. */
const MAX_BRANCHES = 200;

/** A condition on the responses of one form version. */
type FormCondition = (formVersionId: string) => string[];

/**
 * The conditions of the branches of a UNION over a selection: one branch per form version, or, with a filter by participant,
 * one per form version and participant, since an index holds each participant's responses together.
 *
 * @param params receives the values
 */
export function branchConditions(
  selection: Selection,
  range: Omit<Range, 'limit'>,
  params: Param[],
  order: Order,
): string[] {
  const { formVersions, userids, questionRefs } = selection;
  if (formVersions.length === 0) return ['false'];
  const add: AddParam = (value) => `$${params.push(value)}`;
  const from = lowerBound(order, selection.since, range.after, add);
  const to = upperBound(order, selection.until, range.upTo, add);
  const participants = oneOf('userid', userids, formVersions.length, add);
  const question = questionRefs ? [`question_ref = any(${add(questionRefs)})`] : [];
  return formVersions.flatMap(({ id }) => {
    const form = [`surveyid = ${add(id)}`, ...from(id), ...to(id), ...question];
    return participants.map((participant) => [...form, ...participant].join(' and '));
  });
}

/** One alternative per value, unless these make too many branches. */
function oneOf(column: string, values: readonly string[] | undefined, times: number, add: AddParam): string[][] {
  if (!values) return [[]];
  if (times * values.length > MAX_BRANCHES) return [[`${column} = any(${add(values)})`]];
  return values.map((value) => [`${column} = ${add(value)}`]);
}

/** An index walk starts at one position: ordered by time, at the later one of `since` and `after`. */
function lowerBound(
  order: Order,
  since: Microseconds | undefined,
  after: Cursor | undefined,
  add: AddParam,
): FormCondition {
  // Ordered by time, the later one implies the other; otherwise both are needed.
  const time = after && isByTime(order) ? parseInstant(after.timestamp) : undefined;
  const sinceIsLater = since !== undefined && time !== undefined && since > time;
  const afterIsLater = since !== undefined && time !== undefined && since <= time;
  const start = since === undefined || afterIsLater ? [] : [`timestamp >= ${add(formatInstant(since))}::timestamptz`];
  if (!after || sinceIsLater) return () => start;

  const cursor = cursorSql(order, after, add);
  // The three columns are unique within a form version, so a row that ties with the cursor follows it if its form version
  // does. Postgres and JavaScript agree on the order of UUIDs in lower-case hexadecimal.
  const { surveyid } = after;
  return (id) => [...start, `(${orderSql(order)}) ${surveyid === undefined || id <= surveyid ? '>' : '>='} ${cursor}`];
}

/** Ordered by time, a page boundary is always before `until`: it was found among the responses before it. */
function upperBound(
  order: Order,
  until: Microseconds | undefined,
  upTo: Required<Cursor> | undefined,
  add: AddParam,
): FormCondition {
  const end =
    until === undefined || (isByTime(order) && upTo) ? [] : [`timestamp < ${add(formatInstant(until))}::timestamptz`];
  if (!upTo) return () => end;
  const cursor = cursorSql(order, upTo, add);
  return (id) => [...end, `(${orderSql(order)}) ${id <= upTo.surveyid ? '<=' : '<'} ${cursor}`];
}

const isByTime = (order: Order) => order[0] === 'timestamp';
