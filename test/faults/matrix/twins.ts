import { type TestSurvey, addResponses, createAccount, createSurvey } from '../../support/data.ts';

/** What a survey has. */
export interface TwinOptions {
  readonly rows: number;
  /** Characters of an answer, by its place in the file. */
  readonly length: (row: number) => number;
}

/** Fits two pages, and needs many when the endpoint gives no more than {@link SHORT_ANSWERS}. */
export const SMALL: TwinOptions = { rows: 900, length: (row) => row % 150 };
/** Bytes. */
export const SHORT_ANSWERS = 100_000;

/** Its first page is large, so that the others, which are small, are planned to have as few rows and are many. */
export const LARGE: TwinOptions = { rows: 2600, length: (row) => (row < 500 ? 7_000 : 10) };

/** Answers of a participant. The order of participants is that of time: what comes first does in a wide file too. */
const ANSWERS = 25;

/** Two accounts have a survey of the same name and shape. @returns the one that is asked for */
export async function createTwins({ rows, length }: TwinOptions): Promise<TestSurvey> {
  const create = async () => {
    const account = await createAccount();
    const survey = await createSurvey(account, 'twins', 3);
    await addResponses(
      survey,
      Array.from({ length: rows }, (_, i) => ({
        form: i % 3,
        userid: `u${String(Math.floor(i / ANSWERS)).padStart(3, '0')}`,
        question_ref: `q${i % ANSWERS}`,
        timestamp: new Date(Date.UTC(2026, 2, 1) + Math.floor(i / 3) * 1000).toISOString(),
        response: `#${account.id}:${i}# "quoted", äß€😀\n${'x'.repeat(length(i))}`,
      })),
    );
    return survey;
  };
  const [asked] = [await create(), await create()];
  return asked;
}
