import { endOfCell } from '../csv/cell.ts';
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

/** Reads the record of {@link ANSWER_COLUMNS} that begins at a position of well-formed CSV. */
export function readAnswer(csv: string, start: number): Answer {
  const userid = endOfCell(csv, start, ',');
  const parent = endOfCell(csv, userid + 1, ',');
  const chain = endOfCell(csv, parent + 1, ',');
  const surveyid = endOfCell(csv, chain + 1, ',');
  const questionRef = endOfCell(csv, surveyid + 1, ',');
  const flowid = endOfCell(csv, questionRef + 1, ',');
  const timestamp = endOfCell(csv, flowid + 1, ',');
  const metadata = endOfCell(csv, timestamp + 1, ',');
  const response = endOfCell(csv, metadata + 1, '\n');
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
