import type { Column } from '../db/responses.ts';
import { endOfCell } from '../encode/csv-cell.ts';

/** The columns to read of each response, in the order of {@link readRecord}. */
export const RECORD_COLUMNS = [
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

/** A response as a record of CSV. All texts are cells, quoted where necessary, and go into the file unchanged. */
export interface ResponseRecord {
  readonly userid: string;
  /** `userid,parent_surveyid,parent_shortcode`: the key, and the first cells, of a record of the wide file. */
  readonly chain: string;
  readonly surveyid: string;
  readonly questionRef: string;
  readonly flowid: string;
  readonly timestamp: string;
  readonly metadata: string;
  readonly response: string;
  /** The position of the next record. */
  readonly end: number;
}

/**
 * Reads a record of {@link RECORD_COLUMNS} from well-formed CSV.
 *
 * @returns undefined if the text ends within the record
 */
export function readRecord(csv: string, start: number): ResponseRecord | undefined {
  const userid = endOfCell(csv, start, ',');
  const parent = endOfNext(csv, userid);
  const chain = endOfNext(csv, parent);
  const surveyid = endOfNext(csv, chain);
  const questionRef = endOfNext(csv, surveyid);
  const flowid = endOfNext(csv, questionRef);
  const timestamp = endOfNext(csv, flowid);
  const metadata = endOfNext(csv, timestamp);
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

/** @returns the position of the comma after the cell that follows `comma`; -1 if either is missing */
const endOfNext = (csv: string, comma: number) => (comma < 0 ? -1 : endOfCell(csv, comma + 1, ','));
