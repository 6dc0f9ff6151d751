import { beforeAll, describe, expect, test } from 'vitest';
import { encodeCursor } from '../support/cursor.ts';
import { fetchApi } from '../support/api.ts';
import { parseCsv } from '../support/csv.ts';
import { type TestSurvey, addResponses, copyResponses, createAccount, createSurvey } from '../support/data.ts';
import { randomFrom } from '../support/random.ts';

let survey: TestSurvey;
let whole: Buffer;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), 'to resume', 3);
  const answers = ['plain', 'a,b', 'line\nline', 'say ""quote""', '"', 'ünï\r\n', '', '\n\n', 'x'.repeat(3000)];
  await addResponses(
    survey,
    Array.from({ length: 900 }, (_, i) => ({
      form: i % 3,
      timestamp: new Date(Date.UTC(2026, 2, 1) + Math.floor(i / 6) * 7).toISOString(),
      userid: `user,${Math.floor(i / 3) % 2}"`, // the three form versions tie in the first three values
      question_ref: 'q\n1',
      response: answers[i % answers.length] ?? '',
    })),
  );
  whole = await copyResponses(survey);
});

const csv = (parameters: Record<string, string> = {}) =>
  fetchApi(`/responses/csv?${new URLSearchParams({ survey: survey.name, ...parameters }).toString()}`, {
    key: survey.account.key,
  });

/** Follows docs/api.md: finds the end of the last complete record of a broken file, and computes its token. */
function resumeFrom(part: Buffer): { keep: number; token?: string } {
  let keep = 0;
  let quoted = false;
  for (const [i, byte] of part.entries()) {
    if (byte === 0x22) quoted = !quoted;
    else if (byte === 0x0a && !quoted) keep = i + 1;
  }
  const last = parseCsv(part.subarray(0, keep)).at(-1);
  if (!last) return { keep: 0 };
  const { timestamp, userid, question_ref: questionRef, surveyid } = last as Record<string, string>;
  return {
    keep,
    token: encodeCursor({ timestamp, userid, questionRef, surveyid } as Parameters<typeof encodeCursor>[0]),
  };
}

describe('a broken download', () => {
  test('can be completed from any offset', async () => {
    const offsets = [0, 1, 50, whole.indexOf('\n'), whole.indexOf('\n') + 1, whole.length - 1, whole.length];
    const random = randomFrom(1);
    for (let i = 0; i < 25; i++) offsets.push(Math.floor(random() * whole.length));
    for (const offset of offsets) {
      const { keep, token } = resumeFrom(whole.subarray(0, offset));
      const rest = await csv(token === undefined ? {} : { after: token });
      expect(rest.status).toBe(200);
      expect(Buffer.concat([whole.subarray(0, keep), rest.bytes]).equals(whole), `at byte ${offset}`).toBe(true);
    }
  });
});

describe('a resumed file', () => {
  test('has neither a header nor a byte order mark', async () => {
    const [row] = parseCsv(whole) as Record<string, string>[];
    const after = encodeCursor({
      timestamp: row?.['timestamp'] ?? '',
      userid: row?.['userid'] ?? '',
      questionRef: row?.['question_ref'] ?? '',
      surveyid: row?.['surveyid'] ?? '',
    });
    const { bytes, headers } = await csv({ after, bom: 'true', count: 'true' });
    expect(whole.subarray(-bytes.length).equals(bytes)).toBe(true);
    expect(headers.get('X-Total-Count')).toBe('899');
  });

  test('is empty after the last response, with status 200', async () => {
    const after = Buffer.from('2100-01-01 00:00:00+00,,').toString('base64');
    const response = await csv({ after, count: 'true' });
    expect([response.status, response.text, response.headers.get('X-Total-Count')]).toEqual([200, '', '0']);
  });

  test('is filtered like the whole file', async () => {
    const first = await csv({ shortcode: 'f1' });
    const { keep, token } = resumeFrom(first.bytes.subarray(0, first.bytes.length / 2));
    const rest = await csv({ shortcode: 'f1', after: token ?? '' });
    expect(Buffer.concat([first.bytes.subarray(0, keep), rest.bytes]).equals(first.bytes)).toBe(true);
    const late = await csv({ shortcode: 'f1', after: token ?? '', since: '2100-01-01' });
    expect(late.text).toBe('');
  });
});
