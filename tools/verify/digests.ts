import { API, jsonOf, quoted } from './client.ts';
import { csvRecords } from './csv-records.ts';
import { Digest, hashOf } from './digest.ts';
import { expectEqual, expectThat } from './expect.ts';
import { CSV_COLUMNS, FIELDS } from './responses.ts';
import type { Subject } from './subject.ts';

const START_LENGTHS = { month: 'YYYY-MM'.length, day: 'YYYY-MM-DD'.length, hour: 'YYYY-MM-DDTHH'.length };
/** With more, the service refuses. */
const MAX_INTERVALS = 20_000;

export type Interval = keyof typeof START_LENGTHS;

/** Compares the digests of each interval with those of the CSV file, which is read once, and of the form data. */
export async function checkDigests(subject: Subject): Promise<string> {
  const { name: survey } = await subject.survey.known();
  const { digest: forms } = await subject.formData.known();
  await subject.csv.known(); // its check reports a file that is not complete
  const computed = await computeDigests(subject);
  const counts: string[] = [];
  for (const [interval, byStart] of Object.entries(computed)) {
    const expected = [...byStart]
      .map(([start, digest]) => ({ start, responses: digest.records, digest: String(digest) }))
      .toSorted((a, b) => (a.start < b.start ? -1 : 1));
    const query = { survey, until: subject.until, interval };
    const reply = await subject.client.get(`${API}/responses/digests`, { query });
    const isTooLarge = expected.length > MAX_INTERVALS;
    expectEqual(`${reply.request}?interval=${interval}: status`, reply.status, isTooLarge ? 400 : 200);
    if (isTooLarge) continue;
    const { digests, ...rest } = jsonOf(reply) as { digests: unknown[] };
    expectThat(Array.isArray(digests), `${reply.request}: no digests`);
    expectEqual(reply.request, rest, { version: 1, interval, forms });
    for (let i = 0; i < Math.max(digests.length, expected.length); i++)
      expectEqual(`${reply.request}: ${interval} ${i + 1}`, digests[i], expected[i]);
    counts.push(`${expected.length} ${interval}s`);
  }
  return counts.join(', ');
}

/** The digests of each interval, by its start, of the CSV file with the shortcodes of the form data. */
async function computeDigests(subject: Subject): Promise<Record<Interval, ReadonlyMap<string, Digest>>> {
  const { shortcodes } = await subject.formData.known();
  const computed = {
    month: new Map<string, Digest>(),
    day: new Map<string, Digest>(),
    hour: new Map<string, Digest>(),
  };
  const reply = await subject.file('csv');
  const records = csvRecords(reply.body());
  const { value: columns } = await records.next();
  expectEqual(`${reply.request}: columns`, columns, CSV_COLUMNS);
  let rows = 0;
  for await (const cells of records) {
    const cell = (name: string) => cells[CSV_COLUMNS.indexOf(name)] ?? null;
    const surveyid = cell('surveyid') ?? '';
    const shortcode = shortcodes.get(surveyid);
    expectThat(shortcode !== undefined, `the form data have no form version ${quoted(surveyid)}`);
    const hash = hashOf(FIELDS.map((name) => (name === 'shortcode' ? shortcode : cell(name))));
    for (const [interval, byStart] of Object.entries(computed)) {
      const start = startOf(cell('timestamp') ?? '', interval as Interval);
      const digest = byStart.get(start) ?? new Digest();
      byStart.set(start, digest);
      digest.add(hash);
    }
    subject.progress(`${++rows} responses`);
  }
  return computed;
}

/** The start of the interval of a timestamp. */
export function startOf(timestamp: string, interval: Interval): string {
  const start = timestamp.slice(0, START_LENGTHS[interval]);
  return start + '0000-01-01T00:00:00.000Z'.slice(start.length);
}
