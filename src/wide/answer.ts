import { endOfCell } from '../encode/csv-cell.ts';
import type { Column } from '../db/responses.ts';

/** What is read of each response; {@link readAnswer} takes them in this order. */
export const ANSWER_COLUMNS = [
  'userid',
  'parent_surveyid',
  'parent_shortcode',
  'surveyid',
  'question_ref',
  'flowid',
  'timestamp',
  'metadata',
  'response',
] as const satisfies readonly Column[];

/** A response. All texts are cells of CSV, quoted where they have to be: as they came, and as they go into the file. */
export interface Answer {
  readonly userid: string;
  /** `userid,parent_surveyid,parent_shortcode`: what a record of the wide file stands for, and its beginning. */
  readonly chain: string;
  readonly surveyid: string;
  readonly questionRef: string;
  readonly flowid: string;
  readonly timestamp: string;
  readonly metadata: string;
  readonly response: string;
  /** Where the next record begins. */
  readonly end: number;
}

/**
 * Reads the record of {@link ANSWER_COLUMNS} that begins at a position of well-formed CSV.
 *
 * @returns undefined when the text ends within it
 */
export function readAnswer(csv: string, start: number): Answer | undefined {
  const userid = endOfCell(csv, start, ',');
  const parent = next(csv, userid);
  const chain = next(csv, parent);
  const surveyid = next(csv, chain);
  const questionRef = next(csv, surveyid);
  const flowid = next(csv, questionRef);
  const timestamp = next(csv, flowid);
  const metadata = next(csv, timestamp);
  const response = metadata < 0 ? -1 : endOfCell(csv, metadata + 1, '\n');
  if (response < 0) return undefined;
  return {
    userid: csv.slice(start, userid),
    chain: csv.slice(start, chain),
    surveyid: csv.slice(chain + 1, surveyid),
    questionRef: csv.slice(surveyid + 1, questionRef),
    flowid: csv.slice(questionRef + 1, flowid),
    timestamp: csv.slice(flowid + 1, timestamp),
    metadata: csv.slice(timestamp + 1, metadata),
    response: csv.slice(metadata + 1, response),
    end: response + 1,
  };
}

/** @returns the position of the comma behind the cell behind the one at `comma`; -1 when either is missing */
const next = (csv: string, comma: number) => (comma < 0 ? -1 : endOfCell(csv, comma + 1, ','));
