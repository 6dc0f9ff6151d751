import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { questionColumns } from '../../src/wide/columns.ts';
import { Fold } from '../../src/wide/fold.ts';
import { MAX_PARTICIPANT_SIZE, ParticipantTooLargeError } from '../../src/wide/participant.ts';
import { pgText } from '../support/arbitraries.ts';
import { naiveCsv } from '../support/csv.ts';

/** userid, parent_surveyid, parent_shortcode, surveyid, question_ref, flowid, timestamp, metadata, response */
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

/** @param cuts offsets at which the rows' CSV is split into parts */
function fold(rows: readonly Row[], cuts: readonly number[] = []): string {
  const csv = naiveCsv(rows);
  const at = [0, ...cuts.map((cut) => cut % (csv.length + 1)).toSorted((a, b) => a - b), csv.length];
  const folding = new Fold(COLUMNS);
  const file: Buffer[] = [];
  for (let i = 1; i < at.length; i++) {
    for (const chunk of folding.add(csv.slice(at[i - 1], at[i]))) file.push(Buffer.from(chunk));
  }
  for (const chunk of folding.end()) file.push(Buffer.from(chunk));
  return Buffer.concat(file).toString('utf8');
}

/** A naive implementation to compare with. */
function naiveFold(rows: readonly Row[]): string {
  const records = new Map<string, { fixed: Row; responses: Map<string, string | null> }>();
  for (const [userid, parent, code, surveyid, questionRef, flowid, timestamp, metadata, response] of rows) {
    const shortcode = FORM_VERSIONS.find(({ id }) => id === surveyid)?.shortcode;
    if (!QUESTIONS.some((question) => question.shortcode === shortcode && question.questionRef === questionRef))
      continue;
    const key = JSON.stringify([userid, parent, code]);
    const before = records.get(key);
    const started = before?.fixed[4] ?? timestamp ?? null;
    const fixed = [userid, parent, code, flowid, started, timestamp, metadata].map((cell) => cell ?? null);
    const responses = before?.responses ?? new Map<string, string | null>();
    responses.set(JSON.stringify([shortcode, questionRef]), response ?? null);
    records.set(key, { fixed, responses });
  }
  return naiveCsv(
    [...records.values()].map(({ fixed, responses }) =>
      fixed.concat(
        QUESTIONS.map(({ shortcode, questionRef }) => responses.get(JSON.stringify([shortcode, questionRef])) ?? null),
      ),
    ),
  );
}

/** The rows of one participant. */
const rowsOf = (userid: string): fc.Arbitrary<Row[]> =>
  fc.array(
    fc.tuple(
      fc.constant(userid),
      fc.constantFrom(null, 'p1', 'p2'),
      fc.constantFrom('start', '', 'a,b'),
      fc.constantFrom('v1', 'v2', 'w1', 'of another survey'),
      fc.constantFrom('q', 'a,"b"', '', 'without a column'),
      fc.constantFrom('1', '2', '3'),
      fc.constantFrom('2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'),
      fc.constantFrom(null, '{}', '{"a": "b,c"}'),
      pgText,
    ),
    { maxLength: 25 },
  );
const participants = fc
  .uniqueArray(pgText, { maxLength: 5 })
  .chain((userids) => fc.tuple(...userids.map(rowsOf)))
  .map((rows) => rows.flat());

const row = (values: { userid?: string; response?: string; questionRef?: string; parent?: string }): Row => {
  const { userid = 'u', parent = 'p', questionRef = 'q', response = 'r' } = values;
  return [userid, parent, 'start', 'v1', questionRef, '1', '2026-03-01T00:00:00.000Z', null, response];
};

describe('the records', () => {
  test('equal those of a naive fold, for any rows, however their text is split', () => {
    fc.assert(
      fc.property(participants, fc.array(fc.nat(), { maxLength: 20 }), (rows, cuts) => {
        expect(fold(rows, cuts)).toBe(naiveFold(rows));
      }),
      { numRuns: 500 },
    );
  });

  test('do not depend on the split, even into single characters', () => {
    const rows = [row({ response: 'x"y' }), row({ response: '' }), row({ userid: 'a,🎉' }), row({ userid: '"' })];
    const { length } = naiveCsv(rows);
    expect(fold(rows, [...Array(length).keys()])).toBe(naiveFold(rows));
  });

  test('may span many chunks, with characters of several bytes', () => {
    const rows = [row({ response: `x${'🎉é'.repeat(400_000)}` }), row({ userid: 'v' })];
    expect(fold(rows, [10, 500_000, 700_000]) === naiveFold(rows)).toBe(true);
  });

  test('are empty without rows', () => {
    expect(fold([])).toBe('');
  });

  test('require a complete last row', () => {
    const folding = new Fold(COLUMNS);
    expect([...folding.add('u,,start,v1')]).toEqual([]);
    expect(() => [...folding.end()]).toThrow('no end');
  });
});

describe('chunks', () => {
  test('have 128 KiB, except the last', () => {
    const folding = new Fold(COLUMNS);
    const sizes: number[] = [];
    const csv = naiveCsv(Array.from({ length: 1000 }, (_, i) => row({ userid: `u${i}`, response: 'é'.repeat(1000) })));
    for (const chunk of [...folding.add(csv), ...folding.end()]) sizes.push(chunk.length);
    expect(sizes.length).toBeGreaterThan(10);
    for (const size of sizes.slice(0, -1)) expect(Math.abs(size - 128 * 1024)).toBeLessThan(4);
  });
});

describe('the size of one participant', () => {
  const half = 'x'.repeat(MAX_PARTICIPANT_SIZE / 2);

  test('is bounded', () => {
    const rows = [row({ response: half }), row({ response: half, questionRef: 'a,"b"' })];
    expect(() => fold(rows)).toThrow(ParticipantTooLargeError);
    expect(() => fold([row({ response: half }), row({ response: half, parent: 'another' })])).toThrow(
      ParticipantTooLargeError,
    );
  });

  test('counts neither replaced responses nor other participants', () => {
    const rows = [row({ response: half }), row({ response: half }), row({ userid: 'v', response: half })];
    expect(fold(rows) === naiveFold(rows)).toBe(true);
  });

  test('counts records', () => {
    const folding = new Fold(COLUMNS);
    const csv = (i: number) => naiveCsv([row({ parent: `p${i}` })]);
    expect(() => {
      for (let i = 0; i < MAX_PARTICIPANT_SIZE / 500; i++)
        for (const chunk of folding.add(csv(i))) expect(chunk).toBe(0);
    }).toThrow(ParticipantTooLargeError);
  });
});
