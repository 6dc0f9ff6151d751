import { labelOf } from './choices.ts';
import { API, quoted } from './client.ts';
import { csvRecords } from './csv-records.ts';
import { NotTested, expectEqual, expectThat } from './expect.ts';
import type { Subject } from './subject.ts';

/** The columns before those of the questions. */
const COLUMNS = ['userid', 'parent_surveyid', 'parent_shortcode', 'flowid', 'started', 'ended', 'attempts', 'metadata'];
/** The length of a record's key: a participant and a parent form. */
const KEY_LENGTH = 3;
/** The responses whose labels are checked: they are held in memory. */
const SAMPLE = 1000;

/** Reads the wide file of the whole survey. */
export async function checkWide(subject: Subject): Promise<string> {
  const { total } = await subject.survey.known();
  const { request, records } = await wideFile(subject, {});
  let count = 0;
  for await (const _ of records) count++;
  expectThat(count > 0 && count <= total, `${request}: ${count} records of ${total} responses`);
  return `${count} records`;
}

/** Compares a wide file with `value=label` with the responses that it is made from, beginning at a question with choices. */
export async function checkLabels(subject: Subject): Promise<string> {
  const { name: survey } = await subject.survey.known();
  const since = (await subject.codebook.known()).find(({ choices }) => choices !== null)?.first;
  if (since === undefined) throw new NotTested('no question lists choices');
  const page = await subject.page({ survey, since, until: subject.until, pageSize: SAMPLE });
  const end = page.length === SAMPLE ? page.at(-1)?.timestamp : undefined;
  const rows = page
    .filter(({ timestamp }) => timestamp !== end)
    .map((row) => row as typeof row & Record<'question_ref' | 'question_text' | 'response', string>);
  const labels = rows.filter(({ response, question_text: text }) => labelOf(response, text) !== response).length;
  if (labels === 0) throw new NotTested(`no answer to a question with choices is one of their letters, from ${since}`);

  // One column for each question: those of its form versions could have equal names.
  const { request, columns, records } = await wideFile(subject, {
    ...{ since, until: end ?? subject.until },
    ...{ value: 'label', columns: 'question' },
  });
  const questions = columns.slice(COLUMNS.length);
  const refs = [...new Set(rows.map((row) => row.question_ref))];
  expectEqual(`${request}: questions`, questions.toSorted(), refs.toSorted());
  const participants = Map.groupBy(rows, (row) =>
    JSON.stringify([row['userid'], row['parent_surveyid'], row['parent_shortcode']]),
  );
  let count = 0;
  for await (const cells of records) {
    const answers = participants.get(JSON.stringify(cells.slice(0, KEY_LENGTH))) ?? [];
    const last = new Map(answers.map((row) => [row.question_ref, labelOf(row.response, row.question_text)]));
    for (const [i, question] of questions.entries())
      expectEqual(
        `${request}: ${quoted(question)} of ${quoted(cells[0] ?? '')}`,
        cells[COLUMNS.length + i],
        last.get(question) ?? null,
      );
    count++;
  }
  expectEqual(`${request}: records`, count, participants.size);
  return `${labels} in ${rows.length} responses`;
}

/** Requests a wide file. @throws NotTested if the survey does not fit the layout */
async function wideFile(subject: Subject, parameters: Readonly<Record<string, string>>) {
  const { name: survey } = await subject.survey.known();
  const query = { survey, until: subject.until, layout: 'wide', ...parameters };
  const reply = await subject.client.send(`${API}/responses/csv`, { query });
  if (reply.header('X-Error-Code') === 'export_too_large')
    throw new NotTested('the survey does not fit the wide layout');
  expectEqual(`${reply.request}: status`, reply.status, 200);
  const request = `${reply.request}?${String(new URLSearchParams({ layout: 'wide', ...parameters }))}`;
  const records = csvRecords(reply.body());
  const columns = ((await records.next()).value ?? []).map((name) => name ?? '');
  expectEqual(`${request}: first columns`, columns.slice(0, COLUMNS.length), COLUMNS);
  return { request, columns, records };
}
