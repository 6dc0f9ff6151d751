import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import readExcelFile from 'read-excel-file/node';
import { cellsOf, recordsOf } from '../../site/shared/csv.ts';
import { CSV_COLUMNS } from '../../src/responses/columns.ts';
import { CURSOR_COLUMNS, cursorOf, encodeCursor } from '../../src/responses/cursor.ts';
import { messageOf } from '../command.ts';
import { Digest, FIELDS } from './digest.ts';
import { API, NotTested, type Subject, expectEqual } from './subject.ts';

/** The most surveys that are counted to choose one. */
const MAX_COUNTED = 20;
/** The most responses of a survey that is chosen: all of them are read several times. */
const MAX_CHOSEN = 100_000;
/** A shorter body is not compressed. */
const MIN_COMPRESSED_BYTES = 1024;
/** The workbook is read into memory. */
const MAX_WORKBOOK_ROWS = 5_000;

export async function chooseSurvey(subject: Subject): Promise<string> {
  const { surveyName } = subject.options;
  const names = [...(await subject.surveys()).keys()];
  const list = names.map((name) => JSON.stringify(name)).join(', ');
  if (surveyName !== undefined && !names.includes(surveyName))
    throw new Error(
      `--survey: the account has no survey ${JSON.stringify(surveyName)}, only ${list}`,
    );
  const counted = [];
  for (const name of surveyName === undefined ? names.slice(0, MAX_COUNTED) : [surveyName])
    counted.push({ name, total: await count(subject, name, subject.until) });
  const usable = counted.filter(({ total }) => total > 0).toSorted((a, b) => a.total - b.total);
  const chosen = usable.findLast(({ total }) => total <= MAX_CHOSEN) ?? usable[0];
  if (!chosen)
    throw new NotTested(`no survey of the account has responses before ${subject.until}`);
  subject.survey = chosen;
  subject.largest = usable.at(-1) ?? chosen;
  return `reading the ${chosen.total} responses of ${JSON.stringify(chosen.name)}`;
}

/** The number of a survey's responses before a time, from a request with HEAD. */
async function count(subject: Subject, survey: string, until: string): Promise<number> {
  const request = {
    method: 'HEAD',
    query: { survey, until, count: 'true' },
    expected: ['200', '500 no_responses'],
  };

  const { ok, headers } = await subject.request(`${API}/responses/csv`, request);
  const total = ok ? (headers.get('X-Total-Count') ?? 'missing') : '0';
  assert(/^\d+$/.test(total), `X-Total-Count is ${JSON.stringify(total)}`);
  return Number(total);
}

export async function checkCsv(subject: Subject): Promise<string> {
  const { name: survey, total } = subject.known('survey');
  const half = Math.floor(total / 2);
  const forms = (await subject.surveys()).get(survey) ?? [];
  const shortcodes = new Map<string | null, string>(
    forms.map(({ id, shortcode }) => [id, shortcode]),
  );

  const [file, rest, texts] = [createHash('sha256'), createHash('sha256'), createHash('sha256')];
  const days = new Map<string, Digest>();
  let middle: ReturnType<typeof cursorOf>;
  let workbookEnd = subject.until;
  let rows = -1; // the first record has the columns
  let bytes = 0;
  for await (const record of recordsIn(await subject.responses('csv'))) {
    file.update(record);
    bytes += record.length;
    const cells = cellsOf(record.toString());
    if (++rows === 0) {
      expectEqual('the columns of the CSV file', cells, CSV_COLUMNS);
      continue;
    }

    const row = Object.fromEntries(CSV_COLUMNS.map((name, i) => [name, cells[i] ?? null]));
    const { timestamp, surveyid = null, metadata } = row;
    const shortcode = shortcodes.get(surveyid);
    assert(
      shortcode !== undefined,
      `record ${rows} of the CSV file is of the unknown form version ${surveyid}`,
    );
    row['shortcode'] = shortcode;
    if (rows > half) rest.update(record);
    if (rows === half) middle = cursorOf(CURSOR_COLUMNS.map((name) => row[name] ?? null));
    if (rows === MAX_WORKBOOK_ROWS + 1) workbookEnd = timestamp ?? '';
    texts.update(textOf({ ...row, metadata: JSON.parse(metadata ?? 'null') as unknown }));
    const day = `${timestamp?.slice(0, 'YYYY-MM-DD'.length)}T00:00:00.000Z`;
    const digest = days.get(day) ?? new Digest();
    days.set(day, digest);
    digest.add(FIELDS.map((name) => row[name] ?? null));
  }

  expectTotal(subject, 'the CSV file', rows);
  subject.csv = {
    bytes,
    sha256: file.digest('hex'),
    texts: texts.digest('hex'),
    rest: { after: middle && encodeCursor(middle), sha256: rest.digest('hex') },
    workbookEnd,
    digests: [...days].map(([start, digest]) => ({
      start,
      responses: digest.records,
      digest: String(digest),
    })),
  };

  return `${rows} responses, ${(bytes / 1e6).toFixed(1)} MB`;
}

/** A response as text, from its fields. `metadata` is an object or null, as in JSON. */
const textOf = (response: Readonly<Record<string, unknown>>) =>
  JSON.stringify(FIELDS.map((name) => response[name] ?? null));

/** @throws Error unless a number of responses is the survey's count */
function expectTotal(subject: Subject, what: string, rows: number): void {
  const { total } = subject.known('survey');
  assert(rows === total, `${what}: ${rows} responses, but ${total} were counted`);
}

export async function checkNdjson(subject: Subject): Promise<void> {
  const { texts: expected } = subject.known('csv');
  const texts = createHash('sha256');
  let rows = 0;
  for await (const line of recordsIn(await subject.responses('ndjson'), false)) {
    texts.update(textOf(JSON.parse(line.toString()) as Record<string, unknown>));
    rows++;
  }

  expectTotal(subject, 'the NDJSON file', rows);
  assert(
    texts.digest('hex') === expected,
    'the responses of the NDJSON file are not those of the CSV file',
  );
}

/** Reads the CSV file under gzip, as most clients do. */
export const checkGzip = (exports: number) => async (subject: Subject) => {
  const { sha256, bytes } = subject.known('csv');
  const started = performance.now();
  const read = async () => {
    const response = await subject.responses('csv', {}, 'gzip');
    const encoding = response.headers.get('Content-Encoding');
    if (bytes >= MIN_COMPRESSED_BYTES) expectEqual('Content-Encoding', encoding, 'gzip');
    await expectHash(response, sha256, 'the bytes with gzip are not those without');
  };

  await Promise.all(Array.from({ length: exports }, read));
  const rowsPerSecond =
    (1000 * exports * subject.known('survey').total) / (performance.now() - started);
  return `${Math.round(rowsPerSecond).toLocaleString('en-US')} rows/s`;
};

export async function checkResuming(subject: Subject): Promise<void> {
  const { after, sha256 } = subject.known('csv').rest;
  if (after === undefined) throw new NotTested('the survey has a single response');
  const response = await subject.responses('csv', { after });
  await expectHash(response, sha256, 'the records are not those that follow in the whole file');
}

export async function checkWorkbook(subject: Subject): Promise<string> {
  const { workbookEnd: until } = subject.known('csv');
  const total = await count(subject, subject.known('survey').name, until);
  const file = await (await subject.responses('xlsx', { until })).arrayBuffer();
  const [sheet] = await readExcelFile(Buffer.from(file)).catch((error: unknown) => {
    throw new Error(`not a complete workbook: ${messageOf(error)}`);
  });

  expectEqual('the columns of the workbook', sheet?.data[0], CSV_COLUMNS);
  expectEqual('the rows of the workbook', sheet?.data.length, 1 + total);
  return `${total} rows`;
}

export async function checkCounts(subject: Subject): Promise<string> {
  subject.known('csv');
  const { responses } = (await (await subject.responses('summary')).json()) as {
    responses: number;
  };

  expectTotal(subject, 'the summary', responses);
  const { questions } = (await (await subject.responses('questions')).json()) as {
    questions: { responses: number }[];
  };

  const answers = questions.reduce((sum, question) => sum + question.responses, 0);
  expectTotal(subject, 'the codebook', answers);
  return `${questions.length} questions`;
}

export async function checkDigests(subject: Subject): Promise<string> {
  const { digests } = subject.known('csv');
  const forms = new Digest();
  const records = recordsIn(await subject.responses('form-data'));
  await records.next(); // the columns
  for await (const record of records) forms.add(cellsOf(record.toString()));
  const expected = { version: 1, interval: 'day', forms: String(forms), digests };
  const found = (await (
    await subject.responses('digests', { interval: 'day' })
  ).json()) as typeof expected;
  for (const [i, day] of digests.entries())
    expectEqual(`digest of ${day.start}`, found.digests[i], day);
  expectEqual('the digests', found, expected);
  return `${digests.length} days`;
}

/**
 * Reads the records of a CSV file without keeping it in memory, each with its LF; with `hasQuotes`
 * false, those of an NDJSON file.
 */
async function* recordsIn(
  { body }: Response,
  hasQuotes = true,
): AsyncGenerator<Buffer, void, void> {
  if (body)
    for await (const records of recordsOf(body, hasQuotes))
      for (const record of records) yield Buffer.from(record);
}

async function expectHash({ body }: Response, sha256: string, message: string): Promise<void> {
  const hash = createHash('sha256');
  for await (const chunk of body ?? []) hash.update(chunk);
  assert(hash.digest('hex') === sha256, message);
}
