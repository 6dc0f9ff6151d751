import { choicesOf } from './choices.ts';
import { API, jsonOf, quoted } from './client.ts';
import { NotTested, expectEqual, expectThat } from './expect.ts';
import type { Subject } from './subject.ts';

const FIELDS = [
  ...['column', 'shortcode', 'question_ref', 'question_idx', 'question_text'],
  ...['responses', 'participants', 'first', 'last', 'choices'],
];

/** A question of the codebook. */
export interface Question {
  readonly question_ref: string;
  readonly question_text: string;
  /** The timestamp of its first response. */
  readonly first: string;
  readonly choices: unknown;
}

/** Reads the codebook. @throws Mismatch unless the choices of each question are those that its text lists */
export async function readCodebook({ client, survey, until }: Subject): Promise<readonly Question[]> {
  const query = { survey: (await survey.known()).name, until };
  const reply = await client.get(`${API}/responses/questions`, { query });
  if (reply.header('X-Error-Code') === 'export_too_large') throw new NotTested('the survey has too many questions');
  expectEqual(`${reply.request}: status`, reply.status, 200);
  const { questions } = jsonOf(reply) as { questions: Question[] };
  expectThat(Array.isArray(questions), `${reply.request}: no questions`);
  for (const question of questions) {
    expectEqual(`${reply.request}: fields`, Object.keys(question), FIELDS);
    const { question_ref: ref, question_text: text, choices } = question;
    expectEqual(`${reply.request}: choices of ${quoted(ref)}`, choices, choicesOf(text));
  }
  return questions;
}
