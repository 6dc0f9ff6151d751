import { expect, test } from 'vitest';
import { encodeCursor } from '../../src/responses/cursor.ts';
import { fetchApi, query } from '../support/api.ts';
import { parseCsv } from '../support/csv.ts';
import { addResponses, copyResponses, createAccount, createSurvey } from '../support/data.ts';
import { randomFrom } from '../support/random.ts';

const ANSWERS = ['plain', 'a,b', 'line\nline', 'say ""quote""', '"', 'ünï\r\n', '', '\n\n', 'x'.repeat(3000)];

/** A survey whose three form versions tie in all else. */
async function createTied() {
  const survey = await createSurvey(await createAccount(), 'to resume', 3);
  await addResponses(
    survey,
    Array.from({ length: 900 }, (_, i) => ({
      form: i % 3,
      timestamp: new Date(Date.UTC(2026, 2, 1) + Math.floor(i / 6) * 7).toISOString(),
      userid: `user,${Math.floor(i / 3) % 2}"`,
      question_ref: 'q\n1',
      response: ANSWERS[i % ANSWERS.length] ?? '',
    })),
  );
  return survey;
}

/** Follows docs/api.md: finds the end of the last complete record of a broken file, and computes its token. */
function resumeFrom(part: Buffer): { keep: number; after?: string } {
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
    after: encodeCursor({ timestamp, userid, questionRef, surveyid } as Parameters<typeof encodeCursor>[0]),
  };
}

test('a broken download can be completed from any offset', async () => {
  const survey = await createTied();
  const whole = await copyResponses(survey);
  const random = randomFrom(1);
  const offsets = [0, 1, 50, whole.indexOf('\n'), whole.indexOf('\n') + 1, whole.length - 1, whole.length];
  for (let i = 0; i < 10; i++) offsets.push(Math.floor(random() * whole.length));
  for (const offset of offsets) {
    const { keep, after } = resumeFrom(whole.subarray(0, offset));
    const rest = await fetchApi(`/responses/csv${query({ survey: survey.name, after })}`, survey.account);
    expect(rest.status).toBe(200);
    expect(Buffer.concat([whole.subarray(0, keep), rest.bytes]).equals(whole), `at byte ${offset}`).toBe(true);
  }
});
