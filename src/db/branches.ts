import type { Cursor } from '../responses/cursor.ts';
import type { Range, Selection } from '../responses/selection.ts';
import { formatInstant, parseInstant } from '../responses/timestamp.ts';
import { type AddParam, type Order, type Param, cursorSql } from './order.ts';

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
  const bounds = rangeBounds(selection, range, order, add);
  const participants = oneOf('userid', userids, formVersions.length, add);
  const question = questionRefs ? [`question_ref = any(${add(questionRefs)})`] : [];
  return formVersions.flatMap(({ id }) => {
    const form = [`surveyid = ${add(id)}`, ...bounds(id), ...question];
    return participants.map((participant) => [...form, ...participant].join(' and '));
  });
}

/** One alternative per value, unless these make too many branches. */
function oneOf(column: string, values: readonly string[] | undefined, times: number, add: AddParam): string[][] {
  if (!values) return [[]];
  if (times * values.length > MAX_BRANCHES) return [[`${column} = any(${add(values)})`]];
  return values.map((value) => [`${column} = ${add(value)}`]);
}

/**
 * The conditions of a range. Ordered by time, an index walk starts at one position: at the later one, in the order, of `after`
 * and the time at which the selection starts, which is `since`, or descending, `until`. The later one implies the other. A page
 * boundary implies the time at which the selection ends: it was found among the responses before it.
 */
function rangeBounds(
  { since, until }: Selection,
  { after, upTo }: Omit<Range, 'limit'>,
  order: Order,
  add: AddParam,
): FormCondition {
  const isDescending = order.direction === 'desc';
  const isByTime = order.columns[0] === 'timestamp';
  const start = isDescending ? until : since;
  const time = after && isByTime ? parseInstant(after.timestamp) : undefined;
  const hasBoth = start !== undefined && time !== undefined;
  const startIsLater = hasBoth && (isDescending ? start <= time : start > time);
  const impliesStart = hasBoth && !startIsLater;
  const impliesEnd = isByTime && upTo !== undefined;
  const [impliesSince, impliesUntil] = isDescending ? [impliesEnd, impliesStart] : [impliesStart, impliesEnd];

  const times = [
    ...(since === undefined || impliesSince ? [] : [`timestamp >= ${add(formatInstant(since))}::timestamptz`]),
    ...(until === undefined || impliesUntil ? [] : [`timestamp < ${add(formatInstant(until))}::timestamptz`]),
  ];
  // The three columns are unique within a form version, so a row that ties with a cursor follows it if its form version does.
  // Postgres and JavaScript agree on the order of UUIDs in lower-case hexadecimal.
  const tieFollows = (id: string, { surveyid = id }: Cursor) => (isDescending ? id < surveyid : id > surveyid);
  const beside = (cursor: Cursor, rowsFollow: boolean): FormCondition => {
    const operator = rowsFollow === isDescending ? '<' : '>';
    const values = cursorSql(order, cursor, add);
    return (id) => [
      `(${order.columns.join(', ')}) ${operator}${tieFollows(id, cursor) === rowsFollow ? '=' : ''} ${values}`,
    ];
  };
  const from = after && !startIsLater ? beside(after, true) : undefined;
  const to = upTo && beside(upTo, false);
  return (id) => [...times, ...(from?.(id) ?? []), ...(to?.(id) ?? [])];
}
