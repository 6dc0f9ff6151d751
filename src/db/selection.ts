import type { Cursor } from '../responses/cursor.ts';
import { type Microseconds, formatInstant, parseInstant } from '../responses/timestamp.ts';
import { type Add, type Order, type Value, keySql, orderSql } from './order.ts';
import type { Form } from './surveys.ts';

/** Which of a survey's responses are asked for: those to these forms that pass every filter. */
export interface Selection {
  readonly forms: readonly Form[];
  /** Answered at this moment or later. */
  readonly since?: Microseconds | undefined;
  /** Answered before this moment. */
  readonly until?: Microseconds | undefined;
  /** Answers of one of these participants. */
  readonly userids?: readonly string[] | undefined;
  /** Answers to one of these questions. */
  readonly questionRefs?: readonly string[] | undefined;
}

/** A stretch of a selection: the responses behind `after`, up to and including `upTo`, the first `limit` of them. */
export interface Range {
  readonly after?: Cursor | undefined;
  readonly upTo?: Required<Cursor> | undefined;
  readonly limit: number;
}

/** With more, planning them takes longer than walking the index past the other participants. */
const MAX_ARMS = 200;

/**
 * The conditions of the page query's arms: an arm for each form, or for each form and participant where participants are
 * asked for, whose answers stand together in an index of their own.
 *
 * @param params takes the values
 */
export function armConditions(
  selection: Selection,
  range: Omit<Range, 'limit'>,
  params: Value[],
  order: Order,
): string[] {
  const { forms, userids, questionRefs } = selection;
  if (forms.length === 0) return ['false'];
  const add: Add = (value) => `$${params.push(value)}`;
  const behind = lowerBound(order, selection.since, range.after, add);
  const within = upperBound(order, selection.until, range.upTo, add);
  const participants = oneOf('userid', userids, forms.length, add);
  const question = questionRefs ? [`question_ref = any(${add(questionRefs)})`] : [];
  return forms.flatMap(({ id }) => {
    const form = [`surveyid = ${add(id)}`, ...behind(id), ...within(id), ...question];
    return participants.map((participant) => [...form, ...participant].join(' and '));
  });
}

/** One alternative for each value, as long as these are few. */
function oneOf(column: string, values: readonly string[] | undefined, times: number, add: Add): string[][] {
  if (!values) return [[]];
  if (times * values.length > MAX_ARMS) return [[`${column} = any(${add(values)})`]];
  return values.map((value) => [`${column} = ${add(value)}`]);
}

/** Where a form's part begins. In the order of time it is the later of the two, since an index walk begins at one place. */
function lowerBound(
  order: Order,
  since: Microseconds | undefined,
  after: Cursor | undefined,
  add: Add,
): (form: string) => string[] {
  // In the order of time one of the two is the later, and says it all; otherwise both have to hold.
  const place = after && isByTime(order) ? parseInstant(after.timestamp) : undefined;
  const sinceIsLater = since !== undefined && place !== undefined && since > place;
  const afterIsLater = since !== undefined && place !== undefined && since <= place;
  const start = since === undefined || afterIsLater ? [] : [`timestamp >= ${add(formatInstant(since))}::timestamptz`];
  if (!after || sinceIsLater) return () => start;

  const key = keySql(order, after, add);
  // Within one form the first three values are unique, so a row that ties with the cursor in them is behind it, or
  // before it, as its form is. Postgres and JavaScript agree on the order of UUIDs in lower-case hexadecimal.
  const { surveyid } = after;
  return (form) => [...start, `(${orderSql(order)}) ${surveyid === undefined || form <= surveyid ? '>' : '>='} ${key}`];
}

/** Where a form's part ends. A border in the order of time was looked up among what lies before `until`. */
function upperBound(
  order: Order,
  until: Microseconds | undefined,
  upTo: Required<Cursor> | undefined,
  add: Add,
): (form: string) => string[] {
  const end =
    until === undefined || (isByTime(order) && upTo) ? [] : [`timestamp < ${add(formatInstant(until))}::timestamptz`];
  if (!upTo) return () => end;
  const key = keySql(order, upTo, add);
  return (form) => [...end, `(${orderSql(order)}) ${form <= upTo.surveyid ? '<=' : '<'} ${key}`];
}

/** Whether a place in the order says what time its responses have. */
const isByTime = (order: Order) => order[0] === 'timestamp';
