import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CsvRecords } from '../../src/encode/records.ts';
import { questionColumns } from '../../src/formats/wide/columns.ts';
import {
  MAX_PARTICIPANT_SIZE,
  ParticipantTooLargeError,
  type KeptAttempts,
} from '../../src/formats/wide/participant.ts';
import { rowColumns } from '../../src/formats/wide/rows.ts';
import { wideTableBuilder } from '../../src/formats/wide/table-builder.ts';
import { pgText } from '../support/arbitraries.ts';
import { pageOf } from '../support/rows-json.ts';

/** userid, parent_surveyid, parent_shortcode, surveyid, flowid, question_ref, timestamp, metadata, response, lacks a key */
type Row = readonly (string | null)[];

const FORM_VERSIONS = [
  { id: 'v1', shortcode: 'f' },
  { id: 'v2', shortcode: 'f' },
  { id: 'w1', shortcode: 'g' },
];
const QUESTIONS = [
  { shortcode: 'f', questionRef: 'q' },
  { shortcode: 'g', questionRef: 'q' },
  { shortcode: 'f', questionRef: 'a,"b"' },
  { shortcode: 'g', questionRef: '' },
];
const COLUMNS = questionColumns(QUESTIONS, FORM_VERSIONS);
const ROW_COLUMNS = rowColumns({ require_metadata: ['key'] });

const builderFor = (repeats: KeptAttempts = 'last') =>
  wideTableBuilder(COLUMNS, ROW_COLUMNS, repeats, new CsvRecords());

/** @param cuts offsets at which the rows are split into pages */
function tableOf(rows: readonly Row[], cuts: readonly number[] = [], repeats?: KeptAttempts): string {
  const at = [0, ...cuts.map((cut) => cut % (rows.length + 1)).toSorted((a, b) => a - b), rows.length];
  const some = builderFor(repeats);
  const file: Buffer[] = [];
  for (let i = 1; i < at.length; i++) {
    if (at[i] === at[i - 1]) continue; // no page is empty
    const page = pageOf(rows.slice(at[i - 1], at[i]));
    for (const chunk of some.add(page)) file.push(Buffer.from(chunk));
    page.data.fill(0); // its memory is freed
  }
  for (const chunk of some.end()) file.push(Buffer.from(chunk));
  return Buffer.concat(file).toString('utf8');
}

/** The rows of one participant. */
const rowsOf = (userid: string): fc.Arbitrary<Row[]> =>
  fc.array(
    fc.tuple(
      fc.constant(userid),
      fc.constantFrom(null, 'p1', 'p2'),
      fc.constantFrom('start', '', 'a,b'),
      fc.constantFrom('v1', 'v2', 'w1', 'of another survey'),
      fc.constantFrom('1', '2', '-3', '9223372036854775807', '9223372036854775806'),
      fc.constantFrom('q', 'a,"b"', '', 'without a column'),
      fc.constantFrom('2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'),
      fc.constantFrom(null, '{}', '{"a": "b,c"}'),
      pgText,
      fc.oneof({ weight: 30, arbitrary: fc.constant('f') }, { weight: 1, arbitrary: fc.constant('t') }),
    ),
    { maxLength: 25 },
  );
const participants = fc
  .uniqueArray(pgText, { maxLength: 5 })
  .chain((userids) => fc.tuple(...userids.map(rowsOf)))
  .map((rows) => rows.flat());

type Values = Partial<Record<'userid' | 'parent' | 'questionRef' | 'response', string>>;
const row = ({ userid = 'u', parent = 'p', questionRef = 'q', response = 'r' }: Values): Row => {
  const time = '2026-03-01T00:00:00.000Z';
  return [userid, parent, 'start', 'v1', '1', questionRef, time, null, response, 'f'];
};

test('records do not depend on where pages end', () => {
  const repeats = fc.constantFrom<KeptAttempts>('last', 'first', 'drop');
  fc.assert(
    fc.property(participants, fc.array(fc.nat(), { maxLength: 20 }), repeats, (rows, cuts, which) => {
      expect(tableOf(rows, cuts, which)).toBe(tableOf(rows, [], which));
    }),
    { numRuns: 200 },
  );
});

test('chunks have 128 KiB and up to one more record, except the last', () => {
  const some = builderFor();
  const sizes: number[] = [];
  const rows = Array.from({ length: 1000 }, (_, i) => row({ userid: `u${i}`, response: 'é'.repeat(1000) }));
  for (const chunk of [...some.add(pageOf(rows)), ...some.end()]) sizes.push(chunk.length);
  expect(sizes.length).toBeGreaterThan(10);
  for (const size of sizes.slice(0, -1)) expect(Math.abs(size - 129 * 1024)).toBeLessThan(1100);
});

describe('the size of one participant', () => {
  const half = 'x'.repeat(MAX_PARTICIPANT_SIZE / 2);

  test('is bounded', () => {
    const rows = [row({ response: half }), row({ response: half, questionRef: 'a,"b"' })];
    expect(() => tableOf(rows)).toThrow(ParticipantTooLargeError);
    expect(() => tableOf([row({ response: half }), row({ response: half, parent: 'another' })])).toThrow(
      ParticipantTooLargeError,
    );
  });

  test('counts neither replaced responses nor other participants', () => {
    const rows = [row({ response: half }), row({ response: half }), row({ userid: 'v', response: half })];
    expect(tableOf(rows, [1]).split('\n').length).toBe(3);
  });
});
