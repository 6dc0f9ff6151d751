import { type TestSurvey, addResponses, createAccount, createSurvey } from '../../support/data.ts';

export interface SurveySize {
  readonly rows: number;
  /** Characters of a response, by its row number in the file. */
  readonly length: (row: number) => number;
}

/** Fits into two pages, or many when results are limited to {@link SMALL_RESULT_BYTES}. */
export const SMALL: SurveySize = { rows: 900, length: (row) => row % 150 };
export const SMALL_RESULT_BYTES = 100_000;

/** The first page has large rows, so the service plans many following pages of few rows. */
export const LARGE: SurveySize = { rows: 2600, length: (row) => (row < 500 ? 7_000 : 10) };

/**
 * With results of at most {@link SPLIT_RESULT_BYTES}, the first page has only a few rows, and these are large: the service plans
 * more small pages than one query for page boundaries returns, and reads them in parallel.
 */
export const SPLIT: SurveySize = { rows: 2600, length: (row) => (row < 10 ? 60_000 : 10) };
export const SPLIT_RESULT_BYTES = 500_000;

/** Responses per participant. Participants respond one after another, so that long and wide files have the same order. */
const RESPONSES = 25;

/** Creates two accounts with surveys of the same name and size. Their responses and the names of their questions differ. */
export async function createSurveyPair({ rows, length }: SurveySize): Promise<readonly [TestSurvey, TestSurvey]> {
  const create = async (question: string) => {
    const account = await createAccount();
    const survey = await createSurvey(account, 'in both accounts', 3);
    await addResponses(
      survey,
      Array.from({ length: rows }, (_, i) => ({
        form: i % 3,
        userid: `u${String(Math.floor(i / RESPONSES)).padStart(3, '0')}`,
        question_ref: `${question}${i % RESPONSES}`,
        timestamp: new Date(Date.UTC(2026, 2, 1) + Math.floor(i / 3) * 1000).toISOString(),
        response: `#${account.id}:${i}# "quoted", äß€😀\n${'x'.repeat(length(i))}`,
      })),
    );
    return survey;
  };
  return [await create('q'), await create('r')];
}
